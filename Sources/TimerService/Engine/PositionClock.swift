import TimerCore

/// Positions as a clock: each stands for an instant of the calendar.
///
/// A batch begins at the position of its instant, or behind the last position given where that is greater. Records come
/// at less than 2^30 a second, so the positions that a process gives stay behind this clock, and the next process begins
/// ahead of them, also where the log does not hold the last ones.
enum PositionClock {
    /// Positions of one second.
    static let perSecond: Int64 = 1 << 30
    /// From this second on (in the year 2106) positions follow the log alone, so that no calendar exhausts them.
    static let lastSecond: Int64 = 1 << 32
    private static let nanosecondsPerSecond: Int64 = 1_000_000_000

    /// The position of the calendar's instant at `now`.
    static func position(at now: Now) -> Int64 {
        let nanoseconds = max(0, now.nanoseconds(on: .wall))
        let (second, rest) = nanoseconds.quotientAndRemainder(dividingBy: nanosecondsPerSecond)
        if second >= lastSecond { return lastSecond * perSecond }
        return second * perSecond + rest * perSecond / nanosecondsPerSecond
    }
}
