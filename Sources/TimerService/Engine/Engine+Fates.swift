import Synchronization
import TimerCore
import TimerLog

/// What is on disk, what may be shown, and what was lost.
extension Engine {
    /// Position of the newest record that is on disk.
    public var durableHead: Int64 { durable.load(ordering: .acquiring) }

    /// Notes that everything up to `position` is on disk.
    func setDurable(_ position: Int64) {
        durable.store(position, ordering: .releasing)
        setShown(max(position, shownHead))
    }

    /// Position of the newest record that streams and deliveries may show: it is on disk, or can't be given again.
    public var shownHead: Int64 { shown.load(ordering: .acquiring) }

    /// Notes that everything up to `position` may be shown.
    func setShown(_ position: Int64) { shown.store(position, ordering: .releasing) }

    /// Notes that a mark is on disk. Called under the lock.
    func setDurable(_ mark: HighWaterMark) {
        self.mark = mark
        needsMark = false
        guard showsEarly else { return }
        unbound.store(coversVersions ? mark.position : min(mark.position, batchFirst - 1), ordering: .releasing)
    }

    /// Tells the dispatcher where the turn of deliveries has come by what is on disk now.
    func ringDeliveries() {
        lock.withLock(.delivery) { if scheduler.hasReadyDeliveries(durable: shownHead) { onReadyDeliveries() } }
    }

    /// What became of the record at `position`, for an answer that rests on it.
    public func fate(of position: Int64) -> Fate { fate(of: position...position) }

    /// What became of the records at `positions`, for an answer that rests on all of them: lost when any of them is.
    public func fate(of positions: ClosedRange<Int64>) -> Fate {
        fate(of: positions, within: max(shownHead, unbound.load(ordering: .acquiring)))
    }

    /// As `fate(of:)`, for what reads the records themselves: `pending` until streams are shown them.
    public func fateOfShown(_ positions: ClosedRange<Int64>) -> Fate { fate(of: positions, within: shownHead) }

    /// - Parameter head: read first, as a loss is noted before anything behind it can be durable.
    private func fate(of positions: ClosedRange<Int64>, within head: Int64) -> Fate {
        if positions.lowerBound <= lostThrough.load(ordering: .acquiring) {
            let isLost = lock.withLock { wasLost(positions) }
            if isLost { return .lost }
        }
        return positions.upperBound <= head ? .durable : .pending
    }

    /// Whether the record at `position` was given out and is lost.
    public func isLost(_ position: Int64) -> Bool { lock.withLock { wasLost(position...position) } }

    /// Whether any record at `positions` was given out and is lost. Called under the lock.
    func wasLost(_ positions: ClosedRange<Int64>) -> Bool { lost.contains { $0.overlaps(positions) } }
}
