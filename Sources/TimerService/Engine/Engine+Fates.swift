import TimerCore
import TimerLog

/// What is on disk, what may be shown, and what was lost.
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

    /// Tells the dispatcher which deliveries are ready by what is on disk now.
    func ringDeliveries() {
        lock.withLock(.delivery) { if scheduler.hasReadyDeliveries(durable: shownHead) { onReadyDeliveries() } }
    }

    /// What became of the record at `position`, for an answer that rests on it.
    public func fate(of position: Int64) -> Fate { fates.fate(of: position...position) }

    /// What became of the records at `positions`, for an answer that rests on all of them: lost when any of them is.
    public func fate(of positions: ClosedRange<Int64>) -> Fate { fates.fate(of: positions) }

    /// As `fate(of:)`, for an answer that an earlier engine of this process may have had a part in: its place in the log says
    /// nothing about a record that was under way when that one was dropped.
    public func fateOfEarlier(_ positions: ClosedRange<Int64>) -> Fate {
        fates.isGivenUp(positions) ? .unknown : fates.fate(of: positions)
    }

    /// As `fate(of:)`, for what reads the records themselves: `pending` until streams are shown them.
    public func fateOfShown(_ positions: ClosedRange<Int64>) -> Fate { fates.fateOfShown(positions) }

    /// Position beyond which the engine has given and shown nothing, nor has an engine before it that this process has dropped:
    /// the next owner of the log may begin there.
    var promisedAtMost: Int64 {
        lock.withLock { max(batch.head, batch.givenOut, PositionClock.position(at: instant())) }
    }

    /// Whether the record at `position` was given out and is lost.
    public func isLost(_ position: Int64) -> Bool { fates.isLost(position...position) }
}
