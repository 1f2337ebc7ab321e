/// Positions as a clock: each corresponds to an instant of the calendar.
public enum CalendarPosition {
    /// The positions of one second.
    public static let perSecond: Int64 = 1 << 30
    /// The second (in the year 2106) from which positions follow the log alone, so that no calendar exhausts them.
    public static let lastSecond: Int64 = 1 << 32

    /// Returns the position of an instant.
    ///
    /// - Parameter realtime: nanoseconds since 1970; earlier instants count as 1970.
    public static func at(realtime: Int64) -> Int64 {
        let (second, rest) = max(0, realtime).quotientAndRemainder(dividingBy: 1_000_000_000)
        if second >= lastSecond { return lastSecond * perSecond }
        return second * perSecond + rest * perSecond / 1_000_000_000
    }

    /// Returns the milliseconds since 1970 of the instant that has this position.
    public static func milliseconds(at position: Int64) -> Int64 {
        position / perSecond * 1000 + position % perSecond * 1000 / perSecond
    }
}
