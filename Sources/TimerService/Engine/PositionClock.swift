import TimerCore
import TimerLog

/// The positions that an engine's clock stands for.
///
/// A batch begins at the position of its instant, or behind the last position given where that is greater. Records come
/// at less than 2^30 a second, so the positions that a process gives stay behind this clock, and the next process begins
/// ahead of them, also where the log does not hold the last ones.
enum PositionClock {
    /// Positions of one second.
    static let perSecond = CalendarPosition.perSecond
    /// From this second on (in the year 2106) positions follow the log alone.
    static let lastSecond = CalendarPosition.lastSecond

    /// The position of the calendar's instant at `now`.
    static func position(at now: Now) -> Int64 { CalendarPosition.at(realtime: now.nanoseconds(on: .wall)) }
}
