import Platform
import TimerCore
import TimerLog

/// The scheduler's time: an elapsed clock that goes on over restarts, and the offset of the calendar from it.
///
/// Both kernel clocks are disciplined alike, so their difference changes only when the calendar is set. The elapsed
/// clock is shifted once, when a log is new, so that the difference is a whole number of milliseconds.
struct ServiceClock {
    private let source: any TimeSource
    private let boot: Hash128
    /// Elapsed = boottime + shift.
    private let shift: Int64
    private var last: Now
    /// Whether the suspending clock stands, and the elapsed time from which on it did not count yet.
    private var standsSince: Int64?

    /// A difference up to this is jitter of reading two clocks in turn, not a step of one.
    private static let jitter: Int64 = 1_000_000
    /// A reading that took longer than this proves nothing about a step.
    private static let longestReading: Int64 = 50_000

    /// Elapsed time before which the suspending clock stands.
    private var upFrom = Int64.min

    /// Continues from the newest row's time base; without one the elapsed clock begins as the calendar.
    ///
    /// - Parameter patience: for so many nanoseconds the suspending clock stands still beyond the gap behind that row: clients
    ///   of another process have to find this one first.
    init(_ source: any TimeSource, after base: TimeBase?, patience: Int64 = 0) {
        self.source = source
        boot = source.boot()
        let (boottime, realtime) = Self.readTogether(source)
        guard let base else {
            shift = realtime - boottime
            last = Now(elapsed: realtime, wallOffset: 0)
            return
        }
        if base.boot == boot {
            shift = base.now.elapsed - base.boottime
        } else {
            // Another boot: what elapsed meanwhile is what the calendar says, never less than nothing.
            let offset = base.now.wallOffset * 1_000_000
            shift = max(base.now.elapsed, realtime - offset) - boottime
        }
        last = base.now
        last.elapsed = max(last.elapsed, boottime + shift)
        // The server was not up since the row was written, or was so unseen.
        last.downtime += Self.wholeMilliseconds(last.elapsed - base.now.elapsed)
        if patience > 0 { upFrom = last.elapsed + patience }
    }

    /// Both clocks at nearly the same instant: a delay between the two readings would count as a difference for ever.
    private static func readTogether(_ source: any TimeSource) -> (boottime: Int64, realtime: Int64) {
        var best = (boottime: Int64(0), realtime: Int64(0))
        var shortest = Int64.max
        for _ in 0..<Self.readings where shortest > 1000 {
            let before = source.boottime()
            let realtime = source.realtime()
            let length = source.boottime() - before
            if length < shortest { (best, shortest) = ((before, realtime), length) }
        }
        return best
    }

    /// Readings of both clocks of which the shortest counts.
    private static let readings = 8

    /// A gap in which no thread read the clock is downtime from this length on, in nanoseconds: the process stood still, as
    /// the fire loop reads the clock once a second.
    private static let longestGap: Int64 = 1_100_000_000

    /// Rounded up, so that the suspending clock is never ahead; by less than a millisecond it may be behind.
    private static func wholeMilliseconds(_ nanoseconds: Int64) -> Int64 { (nanoseconds + 999_999) / 1_000_000 }

    /// The current instant; never before an earlier one on the elapsed clock. A step of the calendar shows as a
    /// changed offset, a time in which the server was not up as more downtime.
    ///
    /// - Parameter isUp: false while the server can't take the commands that suspending timers wait for.
    mutating func now(isUp: Bool = true) -> Now {
        let seen = last.elapsed
        readClocks()
        let isUp = isUp && last.elapsed >= upFrom
        if !isUp || standsSince != nil || last.elapsed - seen > Self.longestGap {
            let since = standsSince ?? seen
            let stood = last.elapsed - since
            // Rounded up at the end; before it what is less than a millisecond counts with the next reading.
            let downtime = isUp ? Self.wholeMilliseconds(stood) : stood / 1_000_000
            last.downtime += downtime
            standsSince = isUp ? nil : since + downtime * 1_000_000
        }
        return last
    }

    private mutating func readClocks() {
        for _ in 0..<3 {
            let before = source.boottime()
            let realtime = source.realtime()
            let difference = realtime - (before + shift)
            last.elapsed = max(last.elapsed, before + shift)
            if abs(difference - last.wallOffset * 1_000_000) < Self.jitter { break }
            guard source.boottime() - before <= Self.longestReading else { continue }
            last.wallOffset = difference >= 0 ? difference / 1_000_000 : (difference - 999_999) / 1_000_000
            break
        }
    }

    /// The last reading.
    var lastReading: Now { last }

    /// What every clock showed at `now`, for a row.
    func base(at now: Now) -> TimeBase {
        TimeBase(now: now, boottime: now.elapsed - shift, boot: boot)
    }

    /// The boottime reading, in nanoseconds, at which the elapsed clock shows `elapsed`.
    func boottime(ofElapsed elapsed: Int64) -> Int64 {
        elapsed.subtractingReportingOverflow(shift).overflow ? .max : elapsed - shift
    }
}
