import TimerCore
import TimerLog

/// The mapping of an engine's clock to positions.
///
/// A batch begins at the position of its instant, or after the last position given where that is greater. Records
/// come at less than 2^30 a second, so the positions that a process gives stay below those of this clock, and the
/// next process begins above them, also where the log does not hold the last ones.
enum PositionClock {
    /// Positions of one second.
    static let perSecond = CalendarPosition.perSecond
    /// From this second on (in the year 2106) positions follow the log alone.
    static let lastSecond = CalendarPosition.lastSecond

    /// Returns the position of the calendar's instant at `now`.
    static func position(at now: Now) -> Int64 { CalendarPosition.at(realtime: now.nanoseconds(on: .wall)) }
}
