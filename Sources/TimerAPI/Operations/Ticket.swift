package import HTTPServer
import Platform
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
    /// The stream or parked answer by which the request goes on, in place of `answer`; nil for one that has not begun.
    package var opened: OpenedAnswer?
    /// The rest of the stream or long poll that has begun; nil for one that has not.
    package var rest: StreamRest?
    var serial: UInt64 = 0
    var route = Route.dashboard
    /// Whether the path led to `route`; if not, `route` means nothing.
    var isRouted = false
    var target = Target()
    var parameter: [UInt8] = []
    package var requestID: [UInt8] = []
    /// The credential of the client; nil before it is judged.
    private(set) var credential: Credential?
    /// The credential of the connection's newest request that had a good one.
    private var known: Credential?
    /// Whether the server that owns the log has judged the credential, which this one could not, and has let it in.
    package var isJudgedByOwner = false
    /// The client.
    var principal: Principal { credential?.principal ?? .nobody }
    /// The request's trace context in its kept form, for the timers that the request makes or changes; empty for none.
    var trace: [UInt8] = []
    var operation = Operation.none
    /// The definition that the operation gives a timer, encoded. It is not in the operation, of which a copy is held while
    /// the scheduler writes into the definition.
    var definition: [UInt8] = []
    var outcome = Outcome.none
    /// The timer that the request names or made.
    var view = TimerView()
    var document = JSONDocument()
    /// The positions that must be durable before the answer is sent: from the lowest to the highest that a step
    /// rested on; 0 if the answer rests on no record. If any position between them is lost, the answer is void.
    private(set) var rests: ClosedRange<Int64> = 0...0
    /// Whether an earlier step made changes, so that a part of them may be stored even if the request fails.
    var mayBePartlyApplied = false
    /// Whether another server that was sent the request may have carried it out, though its answer never came.
    package var mayBeStored = false
    /// The instant at which the request began to wait for the disk, in monotonic nanoseconds.
    var waitingSince: Int64 = 0
    /// The request as the idempotency table knows it, if it has an idempotency key.
    var idempotency: IdempotentRequest?
    /// Whether the request takes many steps, has begun, and is counted for that.
    var isRun = false
    /// Whether the idempotency table counts the request as under way.
    var isUnderWay = false
    /// Position of the newest part of the answer that was kept for the key; 0 for none.
    var newestPart: Int64 = 0
    /// Whether the outcome is a stored answer.
    var isReplay = false
    /// Whether the stream has started its timer, which waited for a subscriber.
    var hasActivated = false
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
        credential = nil
        isJudgedByOwner = false
        trace = []
        answer = nil
        opened = nil
        rest = nil
        operation = .none
        outcome = .none
        rests = 0...0
        mayBePartlyApplied = false
        mayBeStored = false
        idempotency = nil
        isUnderWay = false
        newestPart = 0
        isReplay = false
        hasActivated = false
        isRendered = false
        hasRoom = false
        attempts = 0
    }

    /// Prepares for the request to be carried out once more, from its beginning.
    func restart(moves: UInt64) {
        self.moves = moves
        operation = .none
        outcome = .none
        restOnNothing()
        isRendered = false
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
        definition = []
        if !trace.isEmpty { trace = [] }
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

    /// The most bytes of a line that a connection remembers while it is idle.
    private static let longestKnown = 512

    /// Judges the client's credential.
    ///
    /// - Parameter isNew: whether the credential is judged although the connection knows it.
    func authenticate(_ route: Route?, by gate: Gate, isNew: Bool = false) throws(Problem) {
        let judged = try gate.authenticate(exchange, route, known: isNew ? nil : known)
        credential = judged
        if judged !== known, (1...Self.longestKnown).contains(judged.line.count) { known = judged }
    }

    /// Notes that the answer rests on the record at `position` too; 0 is no record.
    func rest(on position: Int64) { rests = Self.widened(rests, to: position) }

    /// Returns the positions from the lowest to the highest of `rests` and `position`, where 0 is no record.
    static func widened(_ rests: ClosedRange<Int64>, to position: Int64) -> ClosedRange<Int64> {
        if position == 0 { return rests }
        if rests == 0...0 { return position...position }
        return min(rests.lowerBound, position)...max(rests.upperBound, position)
    }

    /// Notes that the answer rests on no record that has still to become durable.
    func restOnNothing() { rests = 0...0 }

    /// Begins the response again, with the request's id as its first header.
    func beginResponse() {
        exchange.response.reset()
        exchange.response.add("Request-Id", requestID)
    }

    /// Fails the request with a problem that rests on nothing in the log.
    func fail(_ problem: Problem) {
        outcome = .problem(problem)
        operation = .none
    }
}

extension Ticket {
    /// Returns the fate of the records that the answer rests on. An outcome that needs the store is pending
    /// until the store has what it needs.
    ///
    /// - Parameters:
    ///   - engine: the engine of the log that this process owns; nil if it owns none.
    ///   - hasMoved: whether this process has gained or lost the log since the request began.
    func fate(in engine: Engine?, hasMoved: Bool) -> Fate {
        switch outcome {
        case .needsEvents(let reading):
            // Lost events count as durable here: the store then fails to find them, which decides the outcome.
            return Self.isStoredOrLost(reading.newest, in: engine) ? .durable : .pending
        case .replay(let positions):
            // The earlier parts were not lost when they were looked up. Other records between them may be lost: they
            // are no parts of the answer.
            guard let newest = positions.max() else { return fateOfRests(in: engine, hasMoved: hasMoved) }
            guard let engine else { return .unknown }
            if newest <= engine.shownHead { return engine.fate(of: newest) }
            return engine.isLost(newest) ? .lost : engine.fateOfShown(newest...newest)
        case .stream:
            guard let engine else { return .unknown }
            if hasMoved, engine.fateOfEarlier(rests) == .unknown { return .unknown }
            return engine.fateOfShown(rests)
        default:
            return fateOfRests(in: engine, hasMoved: hasMoved)
        }
    }

    /// Returns the fate of the records of a change. After this process has lost the log, the next owner may have kept
    /// the records or not.
    private func fateOfRests(in engine: Engine?, hasMoved: Bool) -> Fate {
        guard let engine else { return rests == 0...0 ? .durable : .unknown }
        return hasMoved ? engine.fateOfEarlier(rests) : engine.fate(of: rests)
    }

    /// Whether the store has the record at `position`, or it is known to be lost.
    private static func isStoredOrLost(_ position: Int64, in engine: Engine?) -> Bool {
        guard let engine else { return true }
        return position <= engine.shownHead || engine.isLost(position)
    }
}

// The properties of a request that a desk needs.
extension Ticket {
    /// Whether the request may be carried out twice: reads, and what has one effect however often it comes.
    package var isRepeatable: Bool {
        switch exchange.method {
        case .get, .head: true
        case .post: route.hasOneEffect || exchange.header("idempotency-key") != nil && route.takesKeys
        case .delete: route.hasOneEffect
        default: false
        }
    }

    /// Whether a GET of it opens a stream or a long poll.
    package var isStream: Bool { route.isStream }

    /// Whether it waits for one event.
    package var isLongPoll: Bool { route == .timerWait }

    /// Whether its answer may take as long as that of a client or receiver elsewhere.
    package var mayTakeLong: Bool { isLongPoll || route == .webhookTest || route == .promote }

    /// Whether its stream may change the timer, which counts its subscribers.
    package var maySubscribe: Bool { route == .timerEvents }

    /// Whether it is an export.
    package var isExport: Bool { route == .export }
}

/// The JSON writer of a loop, whose memory is reused for each answer.
final class Scratch {
    var json = JSONWriter()
}

/// Makes UUIDs of version 7, from the kernel's random numbers taken in bulk. Confined to one loop.
final class IDSource {
    private var pool: [UInt64] = []

    /// The count of random numbers taken from the kernel at a time.
    private static let poolCount = 256

    /// Returns the text of a new UUID.
    func next() -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(UUIDv7.count)
        next(into: &text)
        return text
    }

    /// Replaces `text` by the text of a new UUID.
    func next(into text: inout [UInt8]) {
        text.removeAll(keepingCapacity: true)
        let milliseconds = Clocks.realtime() / 1_000_000
        UUIDv7.append(milliseconds: milliseconds, random: (random(), random()), to: &text)
    }

    private func random() -> UInt64 {
        if pool.isEmpty {
            pool = KernelRandom.words(Self.poolCount)
        }
        return pool.removeLast()
    }
}

/// Requests that wait for a step, in the order in which they came.
///
/// The queue is no `FIFO` of another module, which the optimizer does not specialize for `Ticket`: that cost a GET
/// 2,600 instructions.
struct StepQueue<Element> {
    private var elements: [Element?] = []
    /// The index of the oldest element.
    private var head = 0

    /// The number of empty places at the front that may collect before the rest is moved forward.
    private static var mostTaken: Int { 1024 }

    var isEmpty: Bool { head == elements.count }

    mutating func append(_ element: Element) { elements.append(element) }

    /// Removes and returns the oldest element; nil if the queue is empty.
    mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        let element = elements[head]
        elements[head] = nil
        head += 1
        if head == elements.count {
            elements.removeAll(keepingCapacity: true)
            head = 0
        } else if head > Self.mostTaken, head > elements.count / 2 {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }
}
