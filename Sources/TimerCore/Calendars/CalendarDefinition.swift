/// The opening hours of something: for each weekday and for single dates the intervals of the local day in which it is
/// open.
///
/// An interval belongs to the day where it begins, also as far as it reaches into the next one. Two definitions are
/// equal if they mean the same intervals, however these were written.
public struct CalendarDefinition: Sendable, Equatable {
    /// An interval of a day by the clocks of the calendar's zone, in seconds since the midnight where the day begins.
    public struct Interval: Sendable, Equatable {
        /// The first second, 0 to 86,399.
        public let start: Int64
        /// The second after the last: above `start`, and below 172,800, as it may lie on the next day.
        public let end: Int64
    }

    /// A date whose intervals replace those of its weekday.
    public struct Date: Sendable, Equatable {
        /// The day, counted from 1970-01-01.
        public let day: Int64
        /// The intervals, ascending and apart; none on a day that is closed.
        public let intervals: [Interval]
    }

    /// The most intervals of a day.
    public static let intervalLimit = 32
    /// The most dates; a range counts each of its days.
    public static let dateLimit = 2000

    /// The IANA name of the time zone, which is not looked up here.
    public let zone: [UInt8]
    /// The intervals of each weekday, ascending and apart; the first element is Sunday's. At least one weekday has some.
    public let week: [[Interval]]
    /// The dates, ascending.
    public let dates: [Date]

    /// Makes a definition of parts that were checked.
    init(zone: [UInt8], week: [[Interval]], dates: [Date]) {
        self.zone = zone
        self.week = week
        self.dates = dates
    }
}
