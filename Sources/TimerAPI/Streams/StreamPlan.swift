package import HTTPServer
import Platform
import TimerCore
import WireJSON

/// The choices of a request for events, and the positions between which its stream runs.
struct StreamPlan {
    var filter = StreamFilter()
    var format = StreamFormat.ndjson
    /// The id to go on from: the one that the client named, or the beginning if it named none and
    /// the stream does not stay open.
    var since: EventID?
    /// Whether the stream stays open once everything has been sent.
    var follows = true
    /// The most events to send.
    var limit = Int.max
    /// The milliseconds after which a long poll ends without an event; nil for a stream.
    var timeout: Int64?
    /// Whether the stream counts as a subscriber for `start: subscriber` and `stop: subscriber`.
    var isSubscription = false

    /// The position from which the stream begins: everything up to here counts as examined.
    var cursor = StreamCursor(0)
    /// The position at which the stream ends, once it has examined everything up to there; nil for no end.
    var end: Int64?
    /// The position of the newest event of the timer.
    var newestOfTimer: Int64 = 0
    /// Whether the timer is deleted: the stream shows its history, as far as that is kept, and ends.
    var isOfDeleted = false
    /// Whether the stream is opened only if it has an event to show; otherwise its answer is 204, at which an
    /// `EventSource` stops reconnecting.
    var needsEvent = false
    /// The timer's own events, which the stream reads from the store first: positions of some of them, at most
    /// `Replayer.History.stride` events apart, the newest included.
    var history: ArraySlice<Int64> = []
    /// The position of the timer's creation, if events of an earlier timer with its id may lie before it: the stream
    /// looks for those row by row.
    var lifeBegan: Int64 = 0
    /// Whether the timer may run again after it ended.
    var isRestartable = false
    /// The id of the newest record when the request was decided, which the `Event-Id` header shows.
    var head = EventID.beginning
    /// Whether the timer waits for a subscriber. The stream subscribes in a step of its own once it is admitted.
    var mustSubscribe = false
    /// Whether the stream is admitted: the request has passed every check.
    var isAdmitted = false
    /// Whether the stream is another server's, which passes it on to a client.
    var isOfPeer = false
    /// Whether the stream began elsewhere, and so takes its place however many streams there are.
    var goesOn = false
    /// The position of the newest event that the subscription caused, by activating or resuming the timer.
    var subscribedAt: Int64?
}

extension StreamPlan {
    /// The id behind which the stream begins.
    var begin: EventID { since ?? cursor.id }

    /// Takes from a request that began elsewhere what is left of it.
    fileprivate mutating func goOn(with rest: StreamRest, now: Int64) {
        goesOn = true
        since = rest.examined
        limit = rest.left
        if timeout != nil, let deadline = rest.deadline { timeout = max(0, (deadline - now) / 1_000_000) }
    }
}

/// The format in which a stream writes its events.
package enum StreamFormat {
    /// One JSON object per line.
    case ndjson
    /// Server-sent events.
    case sse
}

extension StreamFormat {
    /// Bytes that a reader skips between two lines: an empty line, or a comment.
    package var filler: StreamChunk { self == .ndjson ? Self.emptyLine : Self.comment }

    private static let emptyLine = StreamChunk("\n".utf8)
    private static let comment = StreamChunk(":\n".utf8)
}

/// Reads requests for events.
struct StreamReader {
    let siphash: SipHash

    static let longestWait: Int64 = 600_000
    private static let defaultWait: Int64 = 30_000

    /// Reads the plan of a stream or, on `wait`, of a long poll.
    ///
    /// - Parameter now: the monotonic time in nanoseconds.
    func plan(_ ticket: Ticket, now: Int64 = Clocks.monotonic()) throws(Problem) -> StreamPlan {
        var plan = StreamPlan()
        var query = QueryReader(ticket.target)
        var timer: [UInt8]?
        if ticket.route == .events {
            timer = try query.one("timer")
            guard timer.map(TimerID.isValid) ?? true else {
                throw QueryReader.invalid("timer", "no timer can have this id")
            }
        } else {
            timer = ticket.parameter
        }
        if let timer {
            guard TimerID.isValid(timer) else { throw Problem(.notFound, "there is no timer with this id") }
            plan.filter.timer = TimerKey(id: timer.span, siphash: siphash)
        }
        plan.since = try query.eventID("since")
        if ticket.route == .timerWait {
            plan.timeout = try query.duration("timeout", in: 0...Self.longestWait, default: Self.defaultWait)
            plan.filter.types = 1 << UInt64(EventType.fired.rawValue)
            plan.limit = 1
        } else {
            let types = try query.words("types", Self.typeNames)
            if !types.isEmpty { plan.filter.types = types.reduce(0) { $0 | $1 } }
            // Sorted, so that streams which ask for the same labels share a channel.
            plan.filter.labels = try query.labels().sorted { $0.lexicographicallyPrecedes($1) }
            plan.follows = try query.flag("follow", default: true)
            plan.limit = Int(try query.number("limit", in: 1...Int64.max, default: .max))
            plan.format = ticket.exchange.prefers("text/event-stream", to: "application/x-ndjson") ? .sse : .ndjson
            plan.isSubscription =
                ticket.route == .timerEvents && plan.follows && ticket.exchange.method == .get
                && ticket.principal.allows(.write)
        }
        try query.finish()
        if let header = ticket.exchange.header("last-event-id"), !header.bytes.isEmpty {
            guard let id = EventID(header.bytes) else {
                throw Problem(.invalidRequest, "`Last-Event-ID` is not an event's id")
            }
            plan.since = id
        }
        if !plan.follows && plan.since == nil { plan.since = .beginning }
        plan.isOfPeer = ticket.isStreamOfPeer
        if let rest = ticket.restOfStream(now: now) { plan.goOn(with: rest, now: now) }
        return plan
    }

    /// The name and the bit of every type.
    private static let typeNames: [(String, UInt64)] = EventType.allCases.map {
        ("\($0.name)", 1 << UInt64($0.rawValue))
    }
}
