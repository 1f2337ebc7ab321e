/// A date of the proleptic Gregorian calendar, and its number of days since 1970-01-01: years from -400 on.
///
/// The arithmetic counts years from March, so that the leap day is the last of its year, and eras of 400 years, which
/// all have the same number of days (after Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
public struct CivilDate: Equatable, Sendable {
    /// Days in the calendar's cycle of 400 years; also a whole number of weeks.
    @inlinable public static var daysInEra: Int64 { 146_097 }
    /// Days from 0000-03-01, where an era starts, to 1970-01-01.
    @inlinable static var epochDay: Int64 { 719_468 }

    /// The year; 0 is the year before the year 1.
    public let year: Int64
    /// The month, 1 to 12.
    public let month: Int64
    /// The day, 1 to 31.
    public let day: Int64

    /// The date of `year`, `month` and `day`, or nil where the calendar has none.
    @inlinable
    public init?(year: Int64, month: Int64, day: Int64) {
        guard month >= 1, month <= 12, day >= 1, day <= Self.days(ofMonth: month, isLeap: Self.isLeap(year)) else {
            return nil
        }
        self.year = year
        self.month = month
        self.day = day
    }

    /// The first day of a month, 1 to 12.
    @inlinable @inline(__always)
    public init(year: Int64, firstOfMonth month: Int64) {
        self.year = year
        self.month = month
        day = 1
    }

    /// The date of a day counted from 1970-01-01.
    @inlinable @inline(__always)
    public init(daysSince1970: Int64) {
        // The count starts one era earlier, so that what lies before the year 0 does not go negative.
        let shifted = UInt64(truncatingIfNeeded: daysSince1970 + Self.epochDay + Self.daysInEra)
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = Int64(truncatingIfNeeded: dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
        month = Int64(truncatingIfNeeded: monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9)
        year = Int64(truncatingIfNeeded: yearOfEra + era * 400) - 400 + (month <= 2 ? 1 : 0)
    }

    /// Days since 1970-01-01, negative before.
    @inlinable public var daysSince1970: Int64 {
        // The count starts one era earlier, as in `init(daysSince1970:)`.
        let yearFromMarch = (month <= 2 ? year - 1 : year) + 400
        let era = yearFromMarch / 400
        let yearOfEra = yearFromMarch % 400
        let monthFromMarch = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return (era - 1) * Self.daysInEra + dayOfEra - Self.epochDay
    }

    /// Whether `year` has 366 days.
    @inlinable
    public static func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    /// The number of days of a month, 1 to 12, in a leap year or in another.
    @inlinable
    public static func days(ofMonth month: Int64, isLeap: Bool) -> Int64 {
        switch month {
        case 2: isLeap ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
