import HTTPServer
import TimerCore
import TimerLog

/// One reader of events, with its place in the log: a stream, or a long poll that takes the first event only.
///
/// Confined to its loop. It is a cursor over the log and holds no events but what its client's connection buffers; while
/// it reads from the store, about a mebibyte of rows.
final class EventStream {
    /// Where its events go.
    enum Sink {
        case stream(DetachedStream)
        case poll(ParkedAnswer)
        case closed
    }

    /// What it is doing.
    enum Mode {
        /// Has seen all that its loop has seen: it gets what its channel gets.
        case inStep
        /// Has rows to read, a turn at a time.
        case behind
        /// Waits for rows from the store.
        case reading
        /// Waits for its client to read.
        case paused
    }

    let id: UInt64
    /// Those that are shown the same.
    let channel: StreamChannel
    /// Of a long poll: the request it came from.
    let origin: StreamOrigin?
    var sink: Sink
    var mode = Mode.behind
    /// Everything up to here has been examined; in step, everything that the loop has seen.
    var cursor: StreamCursor
    /// Of a stream that does not follow: ends once everything up to here has been examined.
    var end: Int64?
    /// Position of the newest event that it brought about, which it is shown even where the server stops.
    let owedThrough: Int64?
    /// Position of the newest record when it was asked for.
    let begunAt: Int64
    /// Events still to be sent.
    var left: Int
    /// Positions of some of its timer's events that are still to be read from the store; see `StreamPlan`.
    var history: ArraySlice<Int64>
    let lifeBegan: Int64
    /// Whether a part that is gone is a gap: it named an id, or was shown something.
    var tellsGaps: Bool
    /// Rows from the store that are still to be shown.
    var rows: ArraySlice<LogRow> = []
    /// Whether it counts among those that rows are read for.
    var holdsRows = false
    /// Position after which every row was in memory when it last asked the store.
    var readFloor: Int64 = 0
    /// Monotonic nanoseconds of its last sign of life.
    var lastSent: Int64
    /// Monotonic nanoseconds at which a long poll gives up.
    let deadline: Int64?
    /// Whether a long poll's time is over: it ends as soon as it has seen what there is.
    var isOverdue = false
    /// Whether a timer that ended may run again, for long polls.
    let isRestartable: Bool
    /// The timer whose subscriber it is; nil for one that is none.
    let subscription: TimerKey?
    /// Its place among its channel's members.
    var seat = 0
    /// Its place among those for whom something is due.
    var due: DueRing.Place?

    init(id: UInt64, plan: StreamPlan, channel: StreamChannel, sink: Sink, origin: StreamOrigin?, now: Int64) {
        self.id = id
        self.channel = channel
        self.sink = sink
        self.origin = origin
        cursor = plan.cursor
        end = plan.end
        owedThrough = plan.subscribedAt
        begunAt = plan.head.position
        left = plan.limit
        history = plan.history
        lifeBegan = plan.lifeBegan
        tellsGaps = plan.since.map { $0 > .beginning } ?? true
        deadline = plan.timeout.map { now + $0 * 1_000_000 }
        isRestartable = plan.isRestartable
        subscription = plan.isSubscription ? plan.filter.timer : nil
        lastSent = now
    }

    /// Whether its client has more to read than may be buffered.
    func isFull(_ limit: Int) -> Bool {
        if case .stream(let stream) = sink { return stream.bufferedBytes > limit }
        return false
    }

    /// Whether what comes next is a part of its timer's history.
    var readsHistory: Bool { !history.isEmpty && cursor.covers(lifeBegan - 1) }

    /// Whether it is a long poll.
    var isPoll: Bool { deadline != nil }
}
