import TimerLog

/// A stream of all timers that is to begin where other servers own some of them: once every owner has promised that its later
/// events lie behind the stream's beginning. So whatever is changed after the client has seen the stream begin is on it.
struct MergedOpening {
    let ticket: Ticket
    var plan: StreamPlan
    /// Position up to which every event has to be known here; nil while some owner was not heard of.
    private(set) var goal: Int64?
    /// When the request came, on the monotonic clock in nanoseconds.
    let began: Int64

    /// Nanoseconds after which the request is refused.
    static let longestWait: Int64 = 5_000_000_000

    init(_ plan: StreamPlan, _ ticket: Ticket, now: Int64) {
        self.plan = plan
        self.ticket = ticket
        began = now
    }

    /// Begins behind the newest event that is known.
    ///
    /// - Parameter present: where a replay ends, so that nothing is missing that was answered before.
    mutating func begin(newest: Int64, present: Int64) {
        goal = newest
        plan.head = EventID(newest)
        plan.cursor = StreamCursor(behind: min(plan.since ?? plan.head, plan.head))
        if !plan.follows { plan.end = present }
    }
}
