import Platform
import TimerCore
public import TimerLog

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
    /// The elapsed time from which the suspending clock is stopped and its downtime not counted yet; nil while it runs.
    private var stoppedSince: Int64?

    /// The difference below which two clocks read in turn show jitter, not a step of one, in nanoseconds.
    private static let jitter: Int64 = 1_000_000
    /// The longest reading of both clocks that can prove a step, in nanoseconds.
    private static let longestReading: Int64 = 50_000

    /// The elapsed time before which the suspending clock is stopped.
    private var upFrom = Int64.min

    /// Continues from the newest row's time base; without one the elapsed clock begins as the calendar.
    ///
    /// - Parameter patience: the nanoseconds for which the suspending clock is stopped beyond the gap since that
    ///   row: clients of another process have to find this one first.
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
            // Another boot: the calendar shows how much time elapsed meanwhile, never less than none.
            let offset = base.now.wallOffset * 1_000_000
            shift = max(base.now.elapsed, realtime - offset) - boottime
        }
        last = base.now
        last.elapsed = max(last.elapsed, boottime + shift)
        // The server was not up since the row was written, or no row shows that it was.
        last.downtime += Self.wholeMilliseconds(last.elapsed - base.now.elapsed)
        if patience > 0 { upFrom = last.elapsed + patience }
    }

    /// Reads both clocks at nearly the same instant: a delay between the two would count as a difference for ever.
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

    /// The most readings of both clocks, of which the shortest counts.
    private static let readings = 8

    /// The longest gap, in nanoseconds, between two readings of the clock by any thread that is not downtime. In a
    /// longer one the process stood still, as the fire loop reads the clock once a second.
    private static let longestGap: Int64 = 1_100_000_000

    /// Rounds up, so that the suspending clock is never ahead; it may be late by less than a millisecond.
    private static func wholeMilliseconds(_ nanoseconds: Int64) -> Int64 { (nanoseconds + 999_999) / 1_000_000 }

    /// Returns the current instant, never before an earlier one on the elapsed clock. A step of the calendar shows
    /// as a changed offset, a time in which the server was not up as more downtime.
    ///
    /// - Parameter isUp: false while the server can't take the commands that suspending timers wait for.
    mutating func now(isUp: Bool = true) -> Now {
        let seen = last.elapsed
        readClocks()
        let isUp = isUp && last.elapsed >= upFrom
        if !isUp || stoppedSince != nil || last.elapsed - seen > Self.longestGap {
            let since = stoppedSince ?? seen
            let stood = last.elapsed - since
            // Rounded up at the end of a stop; before it a rest of less than a millisecond counts with the next
            // reading.
            let downtime = isUp ? Self.wholeMilliseconds(stood) : stood / 1_000_000
            last.downtime += downtime
            stoppedSince = isUp ? nil : since + downtime * 1_000_000
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

    /// The elapsed time in nanoseconds, read without following a step of the calendar.
    var elapsed: Int64 { source.boottime() + shift }

    /// Returns what every clock showed at `now`, for a row.
    func base(at now: Now) -> TimeBase {
        TimeBase(now: now, boottime: now.elapsed - shift, boot: boot)
    }

    /// Returns the boottime reading, in nanoseconds, at which the elapsed clock shows `elapsed`.
    func boottime(ofElapsed elapsed: Int64) -> Int64 {
        elapsed.subtractingReportingOverflow(shift).overflow ? .max : elapsed - shift
    }
}

/// The clocks that the service reads; tests have manual ones.
public protocol TimeSource: Sendable {
    /// Returns nanoseconds since boot, sleep included.
    func boottime() -> Int64
    /// Returns nanoseconds since 1970.
    func realtime() -> Int64
    /// Returns the identity of the boot that `boottime` counts from.
    func boot() -> Hash128
}

/// The kernel's clocks.
public struct SystemTime: TimeSource {
    /// Makes a source of the kernel's clocks.
    public init() {}
    /// Reads `CLOCK_BOOTTIME`.
    public func boottime() -> Int64 { Clocks.boottime() }
    /// Reads `CLOCK_REALTIME`.
    public func realtime() -> Int64 { Clocks.realtime() }
    /// Returns a hash of the kernel's boot id.
    public func boot() -> Hash128 {
        let text = Array(Clocks.bootIdentity().utf8)
        return Hash128(text.span, siphash: SipHash(secret: []), tweak: 0)
    }
}
