import TimerCore
import TimerLog

/// High-water marks: with `--durability interval` changes are shown before they are on disk, and neither a position
/// nor a version that was shown is ever given again.
///
/// A mark is written ahead: changes that are shown early lie at or below the newest mark on disk, and a start goes on
/// above it.
extension Engine {
    /// Whether changes may be shown before they are on disk.
    var showsEarly: Bool { configuration.durability != .commit }

    /// The nanoseconds of the calendar by which a mark lies ahead, beside twice the time between two writes.
    private static let lead: Int64 = 10_000_000_000
    /// The versions by which a mark lies ahead.
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

    /// Whether less than half of the mark's lead is left, in positions or in versions.
    var isMarkLow: Bool {
        let position = max(PositionClock.position(at: clockNow), batch.next)
        return position + leadPositions / 2 > mark.position || highestVersion + Self.versionLead / 2 > mark.version
    }

    /// Makes answers that rest on the batch at hand wait until it is on disk.
    func bindBatch() {
        fates.bind(from: batch.first)
    }

    /// Begins positions and versions again from the clock, as another server may have gone on with the log since it
    /// was copied. The clock, with `branchLead`, is above what that server can have reached, as no timer gets a
    /// version a microsecond.
    ///
    /// - Parameter wall: when the log was copied, in milliseconds by the clock there.
    func restartFromClock(_ wall: Int64) {
        let now = clock.now()
        let latest = PositionClock.lastSecond * 1000 - Self.branchLead
        let instant = min(max(0, wall, now.milliseconds(on: .wall)), latest) + Self.branchLead
        batch.skip(to: PositionClock.position(at: Now(elapsed: instant * 1_000_000, wallOffset: 0)))
        lostVersions = max(lostVersions, instant * 1000)
        needsMark = true
    }

    /// The milliseconds by which a clock may be behind on the machine where a copy is started.
    private static let branchLead: Int64 = 3_600_000

    /// Begins positions and versions above those that the log may have lost.
    func begin(above lost: HighWaterMark) {
        // One position stays free, so that no row begins right after lost ones.
        batch.skip(to: min(lost.position, .max - 2) + 2)
        lostVersions = max(lostVersions, lost.version)
        needsMark = true
    }

    /// Writes a mark into the batch.
    ///
    /// - Parameter isExact: whether nothing is shown early after the mark.
    func recordMark(isExact: Bool) -> HighWaterMark {
        let position = batch.takePosition(at: clockNow)
        var mark = HighWaterMark(position: position, version: scheduler.lostVersions)
        if !isExact {
            // One second's positions while the calendar is behind the log, so that many quick restarts use up few.
            mark.position = max(
                PositionClock.position(at: clockNow) + leadPositions, position + PositionClock.perSecond)
            mark.version = highestVersion + Self.versionLead
        }
        RecordCodec.append(mark, at: clockNow.wall, to: &batch.records.open)
        return mark
    }
}
