package import HTTPServer
import TimerCore
import TimerLog
import TimerService
import WireJSON

/// One request under way: what it asks for, its outcome, and the duty to answer it.
///
/// Each connection has one ticket, and reuses it for its next request.
package final class Ticket {
    package let exchange: Exchange
    let scratch: Scratch
    package var answer: Answer?
    var serial: UInt64 = 0
    var route = Route.dashboard
    /// Whether the path led to `route`; if not, `route` means nothing.
    var isRouted = false
    var target = Target()
    var parameter: [UInt8] = []
    package var requestID: [UInt8] = []
    var operation = Operation.none
    var outcome = Outcome.none
    /// The timer that the request names or made.
    var view = TimerView()
    var document = JSONDocument()
    /// The positions that must be durable before the answer is sent: from the lowest to the highest that a step
    /// rested on; 0 if the answer rests on no record. If any position between them is lost, the answer is void.
    private(set) var rests: ClosedRange<Int64> = 0...0
    /// Whether an earlier step made changes, so that a part of them may be stored even if the request fails.
    var mayBePartlyApplied = false
    /// The instant at which the request began to wait for the disk, in monotonic nanoseconds.
    var waitingSince: Int64 = 0
    /// The idempotency key, hashed with the request, if there is one.
    var idempotency: (key: Hash128, fingerprint: Hash128)?
    /// Whether the idempotency table counts the request as under way.
    var isUnderWay = false
    /// Position of the newest part of the answer that was kept for the key; 0 for none.
    var newestPart: Int64 = 0
    /// Whether the outcome is a stored answer.
    var isReplay = false
    /// Whether the response is filled already.
    var isRendered = false
    /// Whether memory was reserved for the answer, or none is needed.
    var hasRoom = false
    /// The number of times that a change was computed again, or a stored answer looked up again,
    /// because of changes meanwhile.
    var attempts = 0
    /// The handler's `moves` when the request began.
    var moves: UInt64 = 0
    /// Whether the step just taken was the last.
    var isDecided = false

    init(_ exchange: Exchange, _ scratch: Scratch) {
        self.exchange = exchange
        self.scratch = scratch
    }

    /// Resets the ticket for the next request.
    func reset(serial: UInt64) {
        self.serial = serial
        isRouted = false
        answer = nil
        operation = .none
        outcome = .none
        rests = 0...0
        mayBePartlyApplied = false
        idempotency = nil
        isUnderWay = false
        newestPart = 0
        isReplay = false
        isRendered = false
        hasRoom = false
        attempts = 0
    }

    /// Whether the request can still be refused once its answer is known, since it changed nothing.
    var mayBeRefused: Bool {
        if case .replay = outcome { return true }
        return exchange.method == .get || exchange.method == .head
    }

    /// Frees the memory from which the answer was made, since a connection may stay idle. The answer
    /// itself is in the response.
    func releaseMemory() {
        operation = .none
        outcome = .gone
        document.reset(keeping: APILimits.keptBytes)
        if view.definition.capacity > APILimits.keptBytes { view.definition = [] }
    }

    /// Takes the client's `Request-Id`, or makes one.
    func identify(_ ids: IDSource) {
        if let given = exchange.header("request-id")?.bytes, Self.isRequestID(given) {
            requestID = Array(given)
        } else {
            ids.next(into: &requestID)
        }
    }

    private static func isRequestID(_ bytes: ArraySlice<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.count <= APILimits.requestIDBytes && bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }

    /// Notes that the answer rests on the record at `position` too; 0 is no record.
    func rest(on position: Int64) {
        guard position != 0 else { return }
        rests = rests == 0...0 ? position...position : min(rests.lowerBound, position)...max(rests.upperBound, position)
    }

    /// Notes that the answer rests on no record that has still to become durable.
    func restOnNothing() { rests = 0...0 }

    /// Fails the request with a problem that rests on nothing in the log.
    func fail(_ problem: Problem) {
        outcome = .problem(problem)
        operation = .none
    }
}
