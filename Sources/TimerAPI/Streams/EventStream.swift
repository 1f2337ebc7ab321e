import HTTPServer
import TimerCore
import TimerLog

/// One reader of events, with its place in the log: a stream, a long poll that takes the first event only, or a probe that
/// looks for the first one.
///
/// Confined to its loop. It is a cursor over the log and holds no events beside those that its client's connection
/// buffers. While it reads from the store it holds about a mebibyte of rows.
final class EventStream {
    /// Where its events go.
    enum Sink {
        case stream(DetachedStream)
        case poll(ParkedAnswer)
        /// To nobody: a request waits to know whether there is an event at all.
        case probe(ticket: UInt64)
        case closed
    }

    /// What the stream does at present.
    enum Mode {
        /// It has seen all that its loop has seen, and gets what its channel gets.
        case inStep
        /// It has rows to read, one portion at a time.
        case behind
        /// It waits for rows from the store.
        case reading
        /// It waits for its client to read.
        case paused
    }

    let id: UInt64
    private unowned let table: StreamTable
    /// The streams that are shown the same events.
    let channel: StreamChannel
    /// The request that a long poll came from; nil for a stream.
    let origin: StreamOrigin?
    var sink: Sink
    var mode = Mode.behind
    /// How far it has come by itself. A stream in step has examined everything that its loop has seen as well.
    var cursor: StreamCursor
    /// It ends once it has examined everything up to this position; nil for no end.
    var end: Int64?
    /// Position of the newest event that its subscription caused. It is shown that one even if the server stops.
    let owedThrough: Int64?
    /// Position of the newest record when the stream was requested.
    let begunAt: Int64
    /// Events still to be sent.
    var left: Int
    /// Positions of some of its timer's events that it has still to read from the store; see `StreamPlan`.
    var history: ArraySlice<Int64>
    let lifeBegan: Int64
    /// Whether missing rows are a gap to its client: the client named an id, or has been sent an event.
    var tellsGaps: Bool
    /// Rows from the store that it has still to show.
    var rows: ArraySlice<LogRow> = []
    /// Whether it counts as one of the table's `rowHolders`.
    var holdsRows = false
    /// Monotonic nanoseconds at which something was last sent on it.
    var lastSent: Int64
    /// Monotonic nanoseconds at which a long poll gives up.
    let deadline: Int64?
    /// Whether a long poll's time is over: it ends as soon as it has examined all rows.
    var isOverdue = false
    /// Whether its timer may run again after it ended; for long polls.
    let isRestartable: Bool
    /// The timer whose subscriber it is; nil if it is no subscriber.
    let subscription: TimerKey?
    /// Its place among its channel's members.
    var seat = 0
    /// Its place in the ring of heartbeats or of polls.
    var due: DueRing.Place?

    init(
        id: UInt64, plan: StreamPlan, table: StreamTable, channel: StreamChannel, sink: Sink, origin: StreamOrigin?,
        now: Int64
    ) {
        self.id = id
        self.table = table
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

    /// Whether more than `limit` bytes are buffered for its client.
    func isFull(_ limit: Int) -> Bool {
        if case .stream(let stream) = sink { return stream.bufferedBytes > limit }
        return false
    }

    /// Whether it goes on with its timer's history.
    var readsHistory: Bool { !history.isEmpty && cursor.covers(lifeBegan - 1) }

    /// Whether it is a long poll.
    var isPoll: Bool { deadline != nil }
}

extension EventStream: StreamProducer {
    func streamWritable() { table.resume(self) }

    func streamClosed() { table.remove(self) }
}
