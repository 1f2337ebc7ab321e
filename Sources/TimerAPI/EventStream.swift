import HTTPServer
import TimerCore
import TimerLog
import TimerService

/// One reader of events, with its place in the log: a stream, or a long poll that takes the first event only.
///
/// Confined to its loop. It is a cursor over the log and holds no events: behind the newest rows it reads from memory,
/// further back from the store.
final class EventStream {
    /// Where its events go.
    enum Sink {
        case stream(DetachedStream)
        case poll(ParkedAnswer)
        case closed
    }

    /// What it is doing.
    enum Mode {
        /// Has seen everything, or is about to.
        case live
        /// Waits for a row from the store.
        case replaying
        /// Waits for its client to read.
        case paused
    }

    let id: UInt64
    let filter: StreamFilter
    let format: StreamFormat
    let origin: StreamOrigin
    var sink: Sink
    var mode = Mode.live
    /// Everything up to here has been examined.
    var cursor: Int64
    /// Ends once everything up to here has been examined.
    let end: Int64?
    /// Position of the newest record when it was asked for.
    let begunAt: Int64
    /// Events still to be sent.
    var left: Int
    /// Positions of a timer's own events that are still to be read from the store.
    var history: ArraySlice<Int64> = []
    /// Whether it stands in the queue of those that have something to read.
    var isQueued = false
    /// Position after which every row was in memory when it last asked the store.
    var readFloor: Int64 = 0
    /// Whether the store could not be read for it.
    var mustRetry = false
    /// Monotonic nanoseconds of its last sign of life.
    var lastSent: Int64
    /// Monotonic nanoseconds at which a long poll gives up.
    let deadline: Int64?
    /// Whether a timer that ended may run again, for long polls.
    let isRestartable: Bool

    init(id: UInt64, plan: StreamPlan, sink: Sink, origin: StreamOrigin, now: Int64) {
        self.id = id
        self.sink = sink
        self.origin = origin
        filter = plan.filter
        format = plan.format
        cursor = plan.cursor
        end = plan.end
        begunAt = plan.head
        left = plan.limit
        history = plan.history
        deadline = plan.timeout.map { now + $0 * 1_000_000 }
        isRestartable = plan.isRestartable
        lastSent = now
    }

    /// Whether its client has more to read than may be buffered.
    func isFull(_ limit: Int) -> Bool {
        if case .stream(let stream) = sink { return stream.bufferedBytes > limit }
        return false
    }

    /// Whether it is a long poll.
    var isPoll: Bool { deadline != nil }
}

/// What a request for events asks for, checked, and where it begins.
struct StreamPlan {
    var filter = StreamFilter()
    var format = StreamFormat.ndjson
    /// The id to go on from, if the client named one.
    var since: Int64?
    /// Whether to stay once everything has been sent.
    var follows = true
    /// Most events to send.
    var limit = Int.max
    /// For a long poll: milliseconds until it gives up.
    var timeout: Int64?
    /// Whether it is the kind of request that a timer with `start: subscriber` waits for.
    var isSubscription = false

    /// Everything up to here counts as examined at the start.
    var cursor: Int64 = 0
    /// Ends once everything up to here has been examined.
    var end: Int64?
    /// Position of the newest event of the timer.
    var newestOfTimer: Int64 = 0
    /// The timer's own events to begin with, from the store.
    var history: ArraySlice<Int64> = []
    /// Whether the timer may run again once it ended.
    var isRestartable = false
    /// Position of the newest record at the decision: what the `Event-Id` header shows.
    var head: Int64 = 0
    /// Whether its timer waits for a subscriber: it is to be activated once nothing speaks against the stream.
    var mustActivate = false
    /// Whether nothing speaks against the stream any more.
    var isSettled = false
    /// Position of the newest event of the activation that it brought about.
    var activatedAt: Int64?
}

/// The request a stream came from, for its answer and the access log.
struct StreamOrigin {
    var requestID: [UInt8]
    var target: [UInt8]
    var peer: String
    /// Monotonic nanoseconds of the request's head.
    var startedAt: Int64

    init(_ ticket: Ticket) {
        requestID = ticket.requestID
        target = ticket.exchange.target
        peer = ticket.exchange.peerDescription
        startedAt = ticket.exchange.startedAt
    }
}
