import Synchronization
import TimerCore
import TimerLog

/// What is promised to those who put the records of several partitions into one order.
extension Engine {
    /// Promises that every record up to the position returned was shown, and that no other will come.
    ///
    /// Where nothing is under way, later records get positions above `position`; otherwise what is returned lies below
    /// the first record under way. The calendar is not left behind by more than a second, and where others may take the
    /// partition, what the lease allows is not exceeded: they begin behind that. What was promised once stands.
    func promise(through position: Int64) -> Int64 {
        if promised.load(ordering: .acquiring) >= position { return position }
        return lock.withLock {
            var through = max(promised.load(ordering: .relaxed), settledHead)
            if through < position && isSettled {
                let now = PositionClock.position(at: instant())
                // Up to the clock in any case: the next record would be above it all the same.
                let wanted = max(now, min(position, now + Self.promiseLead))
                through = max(through, min(wanted, lease?.promised ?? .max))
                batch.skip(to: through + 1)
            }
            promised.store(through, ordering: .releasing)
            return min(position, through)
        }
    }

    /// Position beyond which it has promised nothing, nor has an engine before it that this process has dropped.
    var promisedAtMost: Int64 { max(promised.load(ordering: .acquiring), clockPosition + Self.promiseLead) }

    /// Position of the present instant.
    var clockPosition: Int64 { lock.withLock { PositionClock.position(at: instant()) } }

    /// A promise reaches so far beyond the clock at most.
    private static let promiseLead = PositionClock.perSecond

    /// Whether every record that was given a position was shown.
    private var isSettled: Bool { !storageFails && batch.isEmpty && batch.head <= shownHead }

    /// Position below the first record that may be shown later, or be lost.
    private var settledHead: Int64 {
        let shown = shownHead
        if storageFails { return shown }
        // The batch that was taken last is shown as a whole; where it is lost, this is low.
        let first = flightBegan > shown ? flightBegan : batch.isEmpty ? 0 : batch.first
        // Whoever has taken the partition meanwhile may have written below it.
        return max(shown, min(first - 1, lease?.promised ?? .max))
    }
}
