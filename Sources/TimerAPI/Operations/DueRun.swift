import TimerCore
import TimerService

/// Counts the timers that are due within a time, in equal buckets, one bounded step at a time.
final class DueRun {
    private let span: Int64
    private let buckets: Int
    /// The count, which other requests may take further as well; nil before the first step.
    private var tally: DueTally?

    /// The values of `within`, in milliseconds.
    private static let spans: [(String, Int64)] = [("1h", 3_600_000), ("1d", 86_400_000), ("7d", 604_800_000)]

    init(_ target: Target) throws(Problem) {
        var query = QueryReader(target)
        span = try query.word("within", Self.spans) ?? Self.spans[0].1
        buckets = try query.count("buckets", upTo: APILimits.dueBuckets, default: APILimits.dueBucketsDefault)
        try query.finish()
    }

    /// Takes the next step, under the lock. Returns the count once that is over.
    func step(_ turn: borrowing Turn) -> DueCount? {
        let tally = tally ?? turn.tally(dueWithin: span, buckets: buckets)
        self.tally = tally
        return turn.step(tally)
    }
}

extension Executor {
    /// Counts on, and takes the whole count as the outcome. Returns whether it is done.
    func count(_ run: DueRun, _ ticket: Ticket, _ turn: borrowing Turn) -> Bool {
        let count = run.step(turn)
        ticket.rest(on: turn.head)
        guard let count else { return false }
        ticket.outcome = .object { StatsJSON.write(count, &$0) }
        return true
    }
}
