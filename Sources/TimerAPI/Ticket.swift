import HTTPServer
import TimerCore
import TimerLog
import TimerService
import WireJSON

/// One request on its way: what it asks for, what came of it, and the duty to answer it.
///
/// Each connection has one, used again for its next request.
final class Ticket {
    let exchange: Exchange
    let scratch: Scratch
    var answer: Answer?
    var serial: UInt64 = 0
    var route = Route.dashboard
    var target = Target()
    var parameter: [UInt8] = []
    var requestID: [UInt8] = []
    var operation = Operation.none
    var outcome = Outcome.none
    /// The timer the request names or made.
    var view = TimerView()
    var document = JSONDocument()
    /// Positions that must be durable before the answer leaves: the newest of the first step and of the last; 0 for at
    /// once. When any between them is lost, so is what the answer says.
    private(set) var rests: ClosedRange<Int64> = 0...0
    /// Whether changes were made in a step before the last, so that a part of them may stand whatever becomes of it.
    var mayStandInPart = false
    /// Monotonic nanoseconds at which it began to wait for the disk.
    var waitingSince: Int64 = 0
    /// The idempotency key, hashed with the request, if there is one.
    var idempotency: (key: Hash128, fingerprint: Hash128)?
    /// Whether the idempotency table counts the request as under way.
    var isUnderWay = false
    /// Whether the response is filled already.
    var isRendered = false
    /// How often a change was computed anew because the timer had moved on.
    var attempts = 0
    /// Whether the step just taken was the last.
    var isDecided = false

    init(_ exchange: Exchange, _ scratch: Scratch) {
        self.exchange = exchange
        self.scratch = scratch
    }

    /// Readies it for the next request.
    func reset(serial: UInt64) {
        self.serial = serial
        answer = nil
        operation = .none
        outcome = .none
        rests = 0...0
        mayStandInPart = false
        idempotency = nil
        isUnderWay = false
        isRendered = false
        attempts = 0
    }

    /// Lets go of what led to the answer, which stands in the response: a connection may stay without a request.
    func letGo() {
        operation = .none
        outcome = .gone
        document.reset(keeping: APILimits.keptBytes)
        if view.definition.capacity > APILimits.keptBytes { view.definition = [] }
    }

    /// Notes that the answer rests on the record at `position`, and on those it rested on already.
    func rest(on position: Int64) {
        rests = rests == 0...0 ? position...position : min(rests.lowerBound, position)...max(rests.upperBound, position)
    }

    /// Fails the request with a problem that rests on nothing in the log.
    func fail(_ problem: Problem) {
        outcome = .problem(problem)
        operation = .none
    }
}

/// The writer of a loop, whose memory serves one answer after another.
final class Scratch {
    var json = JSONWriter()
}

/// What a request asks of the timers.
enum Operation {
    /// Nothing: the outcome is known.
    case none
    /// A problem, unless the timer it is about is missing, which comes first.
    case fail(Problem, unlessMissing: TimerKey?)
    case create(TimerKey, definition: [UInt8])
    case put(TimerKey, definition: [UInt8], VersionCondition, createOnly: Bool)
    /// Reads the timer, if there is one, to keep secrets of its webhook.
    case readForPut(TimerKey, VersionCondition, createOnly: Bool)
    case replace(TimerKey, basis: Int64, definition: [UInt8], VersionCondition, createOnly: Bool)
    /// Reads the timer to compute what a patch gives.
    case readForPatch(TimerKey, VersionCondition)
    case amend(TimerKey, basis: Int64, definition: [UInt8], VersionCondition)
    case command(TimerCommand, TimerKey, RescheduleTarget?, VersionCondition)
    case delete(TimerKey, VersionCondition)
    case get(TimerKey)
    case next(TimerKey, count: Int)
    case preview(TimerRules, count: Int)
    /// Fires that are being looked for, outside of the lock.
    case upcoming(UpcomingFires)
    case list(ListRun)
    case batch(BatchRun)
    case bulk(BulkRun)
    case deliveries(DeliveryOperation)
    case stream(StreamPlan)
    /// The same once nothing speaks against the stream: activates the timer if it still waits for a subscriber.
    case subscribe(StreamPlan)
}

extension Operation {
    /// Whether it takes many steps, and each of them long.
    var isLong: Bool {
        switch self {
        case .list, .batch, .bulk, .deliveries: true
        default: false
        }
    }
}

/// What came of a request.
enum Outcome {
    /// Not decided yet.
    case none
    case problem(Problem)
    /// The timer in the ticket's view, with a status code of 200 or 201.
    case timer(status: Int)
    /// 204.
    case noContent
    /// Instants of fires.
    case fires([Int64])
    case list(ListRun)
    case batch(BatchRun)
    case bulk(BulkCounts)
    /// None yet: events have to be read from the store first, then the operation goes on.
    case reading(DeliveryReading)
    case delivery(DeliveryReading.Entry)
    case deliveries(DeliveriesRun)
    /// Events from here on.
    case stream(StreamPlan)
    /// The stored answer at this position.
    case replay(Int64)
    /// The dashboard.
    case dashboard(Dashboard)
    /// A text of a media type.
    case page(status: Int, type: String, [UInt8])
    /// The answer was given, or its connection was taken over.
    case gone

    /// Whether the request was carried out.
    var isSuccess: Bool {
        switch self {
        case .timer, .noContent, .fires, .list, .batch, .bulk, .delivery, .deliveries: true
        default: false
        }
    }

    /// Whether the operation is still under way.
    var isReading: Bool {
        if case .reading = self { return true }
        return false
    }
}
