import TimerCore
import TimerLog

/// The fates of records: what is on disk, what may be shown, and what was lost.
extension Engine {
    /// Position of the newest record that is on disk.
    public var durableHead: Int64 { fates.durableHead }

    /// Position of the newest record that streams and deliveries may show: it is on disk, or can't be given again.
    public var shownHead: Int64 { fates.shownHead }

    /// Notes that a mark is on disk. Called under the lock.
    func setDurable(_ mark: HighWaterMark) {
        self.mark = mark
        needsMark = false
        guard showsEarly else { return }
        fates.unbind(through: coversVersions ? mark.position : min(mark.position, batch.first - 1))
    }

    /// Wakes the dispatcher if deliveries are ready by what may be shown now.
    func ringDeliveries() {
        lock.withLock(.delivery) { if scheduler.hasReadyDeliveries(durable: shownHead) { onReadyDeliveries() } }
    }

    /// Returns the fate of the record at `position`, for an answer that rests on it.
    public func fate(of position: Int64) -> Fate { fates.fate(of: position...position) }

    /// Returns the fate of the records at `positions`, for an answer that rests on all of them: lost when any of
    /// them is.
    public func fate(of positions: ClosedRange<Int64>) -> Fate { fates.fate(of: positions) }

    /// Returns the fate of the records at `positions`, for an answer that an earlier engine of this process may
    /// have had a part in. It is `unknown` where a record was not shown yet when that engine was dropped: the log
    /// may have gone on above its position without it.
    public func fateOfEarlier(_ positions: ClosedRange<Int64>) -> Fate {
        fates.isFateUnknown(positions) ? .unknown : fates.fate(of: positions)
    }

    /// Returns the fate of the records at `positions`, for a reader of the records themselves: `pending` until
    /// streams may show them.
    public func fateOfShown(_ positions: ClosedRange<Int64>) -> Fate { fates.fateOfShown(positions) }

    /// The position after which neither this engine nor an earlier one of this process has given or shown anything:
    /// the next owner of the log may begin there.
    var claimedThrough: Int64 {
        lock.withLock { max(batch.head, batch.givenOut, PositionClock.position(at: instant())) }
    }

    /// Whether the record at `position` was given out and is lost.
    public func isLost(_ position: Int64) -> Bool { fates.isLost(position...position) }
}
