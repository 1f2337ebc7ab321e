import HTTPServer
import TimerCore
import TimerLog

/// A reader of events with its position in the log: a stream, a long poll that takes the first event only, or a probe
/// that looks for the first one.
///
/// An event stream is confined to its loop. It is a cursor over the log and holds no events besides those that its
/// client's connection buffers. While it reads from the store it holds about a mebibyte of rows.
final class EventStream {
    /// The destination of the stream's events.
    enum Sink {
        case stream(DetachedStream)
        case poll(ParkedAnswer)
        /// No destination: a request waits to learn whether there is an event to show.
        case probe(ticket: UInt64)
        case closed
    }

    /// The state of the stream.
    enum Mode {
        /// The stream has examined everything that its loop has, and receives its channel's portions.
        case inStep
        /// The stream has rows to read for itself, one portion at a time.
        case behind
        /// The stream waits for rows from the store, or to try a failed read again.
        case reading
        /// The stream waits for its client to read what is buffered.
        case paused
    }

    let id: UInt64
    /// The table that the stream is in; nil in tests of its cursor alone.
    private weak var table: StreamTable?
    /// The streams that are shown the same events.
    let channel: StreamChannel
    /// The request that a long poll came from; nil for a stream.
    let origin: StreamOrigin?
    /// The request of a stream that another server may go on with; nil for any other.
    let ticket: Ticket?
    /// Whether the stream is another server's, which passes it on to a client.
    let isOfPeer: Bool
    /// The credential of the client; nil for a probe, whose request goes on.
    let credential: Credential?
    var sink: Sink
    var mode = Mode.behind
    /// The last position that the stream has examined by itself. A stream in step has also examined everything that
    /// its loop has.
    var cursor: StreamCursor
    /// The position at which the stream ends, once it has examined everything up to there; nil for no end.
    var end: Int64?
    /// Whether the stream had an end when it was opened.
    let isHistory: Bool
    /// The position of the newest event that the stream's subscription caused. The stream shows that event even if
    /// the server stops.
    let owedThrough: Int64?
    /// The position of the newest record when the stream was requested.
    let begunAt: Int64
    /// The number of events that may still be sent.
    var left: Int
    /// The positions of some of the timer's events that the stream has still to read from the store; see
    /// `StreamPlan`.
    var history: ArraySlice<Int64>
    let lifeBegan: Int64
    /// Whether missing rows are a gap to the client: always, but for a stream from the beginning
    /// that has sent no event yet.
    var reportsGaps: Bool
    /// Rows from the store that the stream has still to show.
    var rows: ArraySlice<LogRow> = []
    /// The instant at which something was last sent on the stream, in monotonic nanoseconds.
    var lastSent: Int64
    /// The instant at which a long poll ends without an event, in monotonic nanoseconds; nil for a stream or a probe.
    let deadline: Int64?
    /// Whether a long poll's time is over: it ends as soon as it has examined all rows.
    var isOverdue = false
    /// Whether the timer of a long poll may run again after it ended.
    let isRestartable: Bool
    /// The timer to which the stream is a subscriber; nil if it is no subscriber.
    let subscription: TimerKey?
    /// The stream's index among its channel's members.
    var seat = 0
    /// The stream's place in the ring of heartbeats or of polls.
    var due: DueRing.Place?

    init(
        id: UInt64, plan: StreamPlan, table: StreamTable?, channel: StreamChannel, sink: Sink, origin: StreamOrigin?,
        credential: Credential? = nil, ticket: Ticket? = nil, now: Int64
    ) {
        self.id = id
        self.table = table
        self.channel = channel
        self.sink = sink
        self.origin = origin
        self.credential = credential
        self.ticket = ticket
        isOfPeer = plan.isOfPeer
        cursor = plan.cursor
        end = plan.end
        isHistory = plan.end != nil
        owedThrough = plan.subscribedAt
        begunAt = plan.head.position
        left = plan.limit
        history = plan.history
        lifeBegan = plan.lifeBegan
        reportsGaps = plan.since.map { $0 > .beginning } ?? true
        deadline = plan.timeout.map { now + $0 * 1_000_000 }
        isRestartable = plan.isRestartable
        subscription = plan.isSubscription ? plan.filter.timer : nil
        lastSent = now
    }

    /// Whether more than `limit` bytes are buffered for the client.
    func isFull(_ limit: Int) -> Bool {
        if case .stream(let stream) = sink { return stream.bufferedBytes > limit }
        return false
    }

    /// The stream or parked answer that has a client; nil for a probe, and once the stream has ended.
    var opened: OpenedAnswer? {
        switch sink {
        case .stream(let stream): .stream(stream)
        case .poll(let parked): .poll(parked)
        case .probe, .closed: nil
        }
    }

    /// Whether the stream reads its timer's history next.
    var readsHistory: Bool { !history.isEmpty && cursor.covers(lifeBegan - 1) }

    /// Whether the stream is a long poll.
    var isPoll: Bool { deadline != nil }
}

extension EventStream: StreamProducer {
    func streamWritable() { table?.resume(self) }

    func streamClosed() { table?.remove(self) }
}

/// The position up to which a stream has examined everything; there need not be an event at it. An `EventID` differs:
/// it names an event, or the point from which a client asked to go on.
struct StreamCursor: Sendable, Comparable, Hashable {
    /// The last position that has been examined.
    private(set) var position: Int64

    init(_ position: Int64) { self.position = position }

    /// Makes a cursor right after the event named `id`.
    init(behind id: EventID) { position = id.position }

    static func < (left: StreamCursor, right: StreamCursor) -> Bool { left.position < right.position }

    /// The id that a client names to go on from here.
    var id: EventID { EventID(position) }

    /// Whether the record at `position` has been examined.
    func covers(_ position: Int64) -> Bool { self.position >= position }

    /// Advances the cursor to `position`, and never back.
    mutating func advance(to position: Int64) { self.position = max(self.position, position) }
}

/// The request that a long poll came from, for its answer, the access log and the audit log.
struct StreamOrigin {
    var requestID: [UInt8]
    /// The client; nil where no credential is asked for.
    var actor: Actor?
    var target: [UInt8]
    var peer: String
    /// The instant at which the request's head came, in monotonic nanoseconds.
    var startedAt: Int64
    /// Whether another server has forwarded the request here.
    var isForwarded: Bool

    init(_ ticket: Ticket) {
        requestID = ticket.requestID
        actor = ticket.principal.actor
        isForwarded = ticket.isForwarded
        target = ticket.exchange.target
        peer = ticket.exchange.peerDescription
        startedAt = ticket.exchange.startedAt
    }
}
