/// A date of the proleptic Gregorian calendar, and the days since 1970-01-01 that it stands for.
///
/// The arithmetic counts years from March, so that the leap day is the last of its year, and eras of 400 years, which
/// all have the same number of days (after Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
struct CivilDate {
    /// Days from 0000-03-01, where the first era starts, to 1970-01-01.
    private static let epochDay: Int64 = 719_468
    private static let daysInEra: Int64 = 146_097

    var year: Int64
    var month: Int64
    var day: Int64

    /// The date of `year`, `month` and `day`, or nil where the calendar has none.
    init?(year: Int64, month: Int64, day: Int64) {
        guard month >= 1, month <= 12, day >= 1, day <= Self.days(month, of: year) else { return nil }
        self.year = year
        self.month = month
        self.day = day
    }

    /// The date of a day counted from 1970-01-01. Only days on or after 0000-01-01 are asked for.
    @inline(__always)
    init(daysSince1970: Int64) {
        // One era earlier, so that January and February of the year 0 do not go negative.
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
    var daysSince1970: Int64 {
        let yearFromMarch = (month <= 2 ? year - 1 : year) + 400
        let era = yearFromMarch / 400
        let yearOfEra = yearFromMarch % 400
        let monthFromMarch = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return (era - 1) * Self.daysInEra + dayOfEra - Self.epochDay
    }

    private static func days(_ month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
