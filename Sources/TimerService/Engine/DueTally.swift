public import TimerCore

/// A count of timers by when they are due, which the requests that want the same one share: each step of any of them
/// takes it further. Guarded by the engine's lock until it is done; then it stays as it is.
public final class DueTally {
    /// The count so far.
    public fileprivate(set) var count: DueCount
    /// Elapsed nanoseconds of the newest step.
    fileprivate var steppedAt: Int64

    fileprivate init(_ count: DueCount, at elapsed: Int64) {
        self.count = count
        steppedAt = elapsed
    }

    /// Continues the count by one step.
    fileprivate func step(_ scheduler: borrowing Scheduler, _ now: Now) {
        guard !count.isDone else { return }
        _ = count.step(scheduler, now)
        steppedAt = now.elapsed
    }
}

/// The tallies that were asked for last. One that is dropped while requests take it further is no longer shared.
struct DueTallies {
    /// The most tallies that are kept; beyond that the one whose newest step is oldest is dropped.
    static let most = 16
    /// Nanoseconds from the newest step of a tally to the end of its use for further requests.
    static let lifetime: Int64 = 5_000_000_000

    private var tallies: [DueTally] = []

    /// Returns the tally of these buckets that further requests share, or begins one.
    mutating func tally(span: Int64, buckets: Int, at elapsed: Int64) -> DueTally {
        tallies.removeAll { elapsed - $0.steppedAt >= Self.lifetime }
        if let known = tallies.first(where: { $0.count.span == span && $0.count.counts.count == buckets }) {
            return known
        }
        if tallies.count == Self.most,
            let oldest = tallies.indices.min(by: { tallies[$0].steppedAt < tallies[$1].steppedAt })
        {
            tallies.remove(at: oldest)
        }
        let tally = DueTally(DueCount(span: span, buckets: buckets), at: elapsed)
        tallies.append(tally)
        return tally
    }
}

extension Turn {
    /// The looks at timers that a step of a tally costs as much as.
    private static let looksPerStep = 256

    /// Returns the tally of the timers that are due within `span` milliseconds, in so many buckets: see `DueCount`. The
    /// tally may be done already, up to `DueTallies.lifetime` ago.
    public func tally(dueWithin span: Int64, buckets: Int) -> DueTally {
        engine.dueTallies.tally(span: span, buckets: buckets, at: now.elapsed)
    }

    /// Continues a tally by one step. Returns its count once that is over.
    public func step(_ tally: DueTally) -> DueCount? {
        noteLooks(Self.looksPerStep)
        tally.step(engine.scheduler, now)
        return tally.count.isDone ? tally.count : nil
    }
}
