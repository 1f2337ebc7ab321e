import TimerCore
import TimerLog

/// High-water marks: with `--durability interval` changes are shown before they are on disk, and neither a position nor a
/// version that was shown is ever given again.
///
/// A mark is written ahead: changes that are shown early lie at or below the newest mark on disk, and a start goes on
/// above it.
extension Engine {
    /// Whether changes may be shown before they are on disk.
    var showsEarly: Bool { configuration.durability != .commit }

    /// A mark lies so many nanoseconds of the calendar ahead, beside twice the time between two writes.
    private static let lead: Int64 = 10_000_000_000
    /// And so many versions.
    static let versionLead: Int64 = 1 << 16

    private var leadPositions: Int64 {
        guard case .interval(let nanoseconds) = configuration.durability else { return 0 }
        let seconds = (Self.lead + 2 * min(nanoseconds, Self.longestInterval)) / 1_000_000_000
        return seconds * PositionClock.perSecond
    }

    private static let longestInterval: Int64 = 3_600_000_000_000

    /// Whether the mark on disk covers the versions given so far.
    var coversVersions: Bool { highestVersion <= mark.version }

    /// Whether the batch at hand may be shown before it is on disk.
    var mayShowBatch: Bool { showsEarly && coversVersions && batch.last < mark.position }

    /// Whether the log ends with a mark that lies ahead of it.
    var isMarkAhead: Bool { mark.position > batch.head }

    /// Whether less than half of what the mark is to cover is left.
    var isMarkLow: Bool {
        let position = max(PositionClock.position(at: clockNow), batch.next)
        return position + leadPositions / 2 > mark.position || highestVersion + Self.versionLead / 2 > mark.version
    }

    /// Has answers that rest on the batch at hand wait until it is on disk.
    func bindBatch() {
        fates.bind(from: batch.first)
    }

    /// Begins positions and versions anew by the clock: another server may have gone on with the log since it was copied, and
    /// the clock is above what it can have reached, as no timer has a version a microsecond.
    ///
    /// - Parameter wall: milliseconds at which it was copied, by the clock there.
    func beginAnew(_ wall: Int64) {
        let now = clock.now()
        let latest = PositionClock.lastSecond * 1000 - Self.branchLead
        let instant = min(max(0, wall, now.milliseconds(on: .wall)), latest) + Self.branchLead
        batch.skip(to: PositionClock.position(at: Now(elapsed: instant * 1_000_000, wallOffset: 0)))
        lostVersions = max(lostVersions, instant * 1000)
        needsMark = true
    }

    /// So many milliseconds a clock may be behind where a copy is started.
    private static let branchLead: Int64 = 3_600_000

    /// Writes a mark into the batch.
    ///
    /// - Parameter isExact: nothing is shown early behind it.
    func recordMark(isExact: Bool) -> HighWaterMark {
        let position = batch.takePosition(at: clockNow)
        var mark = HighWaterMark(position: position, version: scheduler.lostVersions)
        if !isExact {
            // While the calendar is behind the log, a second's positions: many quick restarts use up little.
            mark.position = max(
                PositionClock.position(at: clockNow) + leadPositions, position + PositionClock.perSecond)
            mark.version = highestVersion + Self.versionLead
        }
        RecordCodec.append(mark, at: clockNow.wall, to: &batch.records)
        return mark
    }
}
