import HTTPServer
import TimerCore
import WireJSON

/// Reads requests for events.
struct StreamReader {
    let siphash: SipHash

    private static let longestWait: Int64 = 600_000
    private static let defaultWait: Int64 = 30_000

    /// Reads the plan of a stream or, on `wait`, of a long poll.
    func plan(_ ticket: Ticket) throws(Problem) -> StreamPlan {
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
            plan.isSubscription = ticket.route == .timerEvents && plan.follows && ticket.exchange.method == .get
        }
        try query.finish()
        if let header = ticket.exchange.header("last-event-id"), !header.bytes.isEmpty {
            guard let id = EventID(header.bytes) else {
                throw Problem(.invalidRequest, "`Last-Event-ID` is not an event's id")
            }
            plan.since = id
        }
        if !plan.follows && plan.since == nil { plan.since = .beginning }
        return plan
    }

    /// The name and the bit of every type.
    private static let typeNames: [(String, UInt64)] = EventType.allCases.map {
        ("\($0.name)", 1 << UInt64($0.rawValue))
    }
}
