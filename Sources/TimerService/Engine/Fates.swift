import Platform
import Synchronization
import TimerCore
import TimerLog

/// The fates of the positions that an engine gave out: on disk, shown, or lost. May be used on any thread.
public final class Fates: Sendable {
    private let durable = Atomic<Int64>(0)
    private let shown = Atomic<Int64>(0)
    /// The position up to which the records that an answer rests on need not be on disk before the answer leaves.
    private let unbound = Atomic<Int64>(0)
    /// Whether the fate of what is not on disk yet stays unknown.
    private let isAbandoned = Atomic<Bool>(false)
    /// The newest position that was lost.
    private let lostThrough = Atomic<Int64>(0)
    /// Positions that were given out and lost, newest last.
    private let lost = Guarded<[ClosedRange<Int64>]>([])

    /// Positions given out by earlier engines, which this process dropped before those positions' fate was known.
    private let unknownPositions: [ClosedRange<Int64>]

    private static let lostRangesKept = 64

    /// - Parameter unknownPositions: positions given out by earlier engines that were dropped.
    init(unknownPositions: [ClosedRange<Int64>] = []) { self.unknownPositions = unknownPositions }

    /// Position of the newest record that is on disk.
    var durableHead: Int64 { durable.load(ordering: .acquiring) }

    /// Position of the newest record that streams and deliveries may show: it is on disk, or can't be given again.
    var shownHead: Int64 { shown.load(ordering: .acquiring) }

    /// Notes that everything up to `position` is on disk.
    func setDurable(_ position: Int64) {
        durable.store(position, ordering: .releasing)
        setShown(max(position, shownHead))
    }

    /// Notes that everything up to `position` may be shown.
    func setShown(_ position: Int64) { shown.store(position, ordering: .releasing) }

    /// Allows answers that rest on positions up to `position` to leave before those are on disk. Called under the
    /// engine's lock.
    func unbind(through position: Int64) { unbound.store(position, ordering: .releasing) }

    /// Makes answers that rest on positions from `position` on wait until those are on disk. Called under the
    /// engine's lock.
    func bind(from position: Int64) {
        unbound.store(min(unbound.load(ordering: .relaxed), position - 1), ordering: .releasing)
    }

    /// Notes that the log ends at `head`, whatever was noted before. Called under the engine's lock.
    func reset(head: Int64) {
        unbound.store(0, ordering: .releasing)
        durable.store(head, ordering: .releasing)
        shown.store(head, ordering: .releasing)
    }

    /// Notes that the fate of what is not on disk yet stays unknown.
    func abandon() { isAbandoned.store(true, ordering: .releasing) }

    /// Notes that the positions from above `kept` through `last` are lost.
    func lose(after kept: Int64, through last: Int64) {
        guard last > kept else { return }
        lost.withLock { lost in
            // Ranges that were lost since the log ended at `kept` are parts of this one.
            lost.removeAll { $0.lowerBound > kept }
            lost.append(kept + 1...last)
            if lost.count > Self.lostRangesKept { lost.removeFirst() }
        }
        lostThrough.store(last, ordering: .releasing)
    }

    /// Whether any record at `positions` was given out and is lost.
    func isLost(_ positions: ClosedRange<Int64>) -> Bool {
        guard positions.lowerBound <= lostThrough.load(ordering: .acquiring) else { return false }
        return lost.withLock { $0.contains { $0.overlaps(positions) } }
    }

    /// Returns the fate of the records at `positions`, for an answer that rests on all of them: lost when any of
    /// them is.
    func fate(of positions: ClosedRange<Int64>) -> Fate {
        fate(of: positions, within: max(shownHead, unbound.load(ordering: .acquiring)))
    }

    /// Returns the fate of the records at `positions`, for a reader of the records themselves: `pending` until
    /// streams may show them.
    func fateOfShown(_ positions: ClosedRange<Int64>) -> Fate { fate(of: positions, within: shownHead) }

    /// Whether any of `positions` was given out by an earlier engine and not shown yet when that was dropped. Such
    /// a record is durable if the log has it; else nothing is known of it.
    func isFateUnknown(_ positions: ClosedRange<Int64>) -> Bool { unknownPositions.contains { $0.overlaps(positions) } }

    /// - Parameter head: read before the losses, as a loss is noted before a record after it can be durable.
    private func fate(of positions: ClosedRange<Int64>, within head: Int64) -> Fate {
        if isLost(positions) { return .lost }
        if positions.upperBound <= head { return .durable }
        return isAbandoned.load(ordering: .acquiring) ? .unknown : .pending
    }
}

/// The fate of the records that an answer rests on.
public enum Fate: Sendable, Equatable {
    /// The records are on disk, or may be shown before they are: the answer may leave.
    case durable
    /// The fate is not known yet.
    case pending
    /// The records are lost: nothing of the change remains.
    case lost
    /// The fate will never be known here: the log is not this process's any more.
    case unknown
}

/// Positions that engines gave out and that were not shown yet when this process dropped the engines. May be used
/// on any thread.
///
/// The process may own the log again, with another engine, before an answer that rests on such a position is looked
/// at. The log may have gone on above the position without the record, so that the position says nothing about its
/// fate.
final class UnknownPositions: Sendable {
    private let known = Guarded<[ClosedRange<Int64>]>([])

    /// The most ranges that are kept: the log comes back in seconds, and an answer waits for seconds at most.
    private static let mostKept = 64

    /// Notes the positions above `shown` through `last`.
    func note(after shown: Int64, through last: Int64) {
        guard last > shown else { return }
        known.withLock { known in
            if known.last == shown + 1...last { return }
            known.append(shown + 1...last)
            if known.count > Self.mostKept { known.removeFirst() }
        }
    }

    /// The positions, oldest first.
    var ranges: [ClosedRange<Int64>] { known.withLock { $0 } }
}

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

    /// Whether every record that was made is on disk.
    var isSettled: Bool { lock.withLock { batch.isEmpty && fates.durableHead >= batch.givenOut } }

    /// The position after which neither this engine nor an earlier one of this process has given or shown anything:
    /// the next owner of the log may begin there.
    var claimedThrough: Int64 {
        lock.withLock { max(batch.head, batch.givenOut, PositionClock.position(at: instant())) }
    }

    /// Whether the record at `position` was given out and is lost.
    public func isLost(_ position: Int64) -> Bool { fates.isLost(position...position) }
}
