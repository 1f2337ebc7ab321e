/// A month of the proleptic Gregorian calendar, for searches that go month by month.
///
/// The arithmetic counts years from March, so that the leap day is the last of its year, and eras of 400 years, which
/// all have the same number of days (after Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
struct CivilMonth {
    /// Days in the calendar's cycle of 400 years; also a whole number of weeks.
    static let daysInEra: Int64 = 146_097
    /// Days from 0000-03-01, where an era starts, to 1970-01-01.
    private static let epochDay: Int64 = 719_468

    private(set) var year: Int64
    /// 1 to 12.
    private(set) var month: Int
    /// Day of its first, counted from 1970-01-01.
    private(set) var firstDay: Int64

    init(year: Int64, month: Int) {
        self.year = year
        self.month = month
        let yearFromMarch = month <= 2 ? year - 1 : year
        let era = floorDivide(yearFromMarch, 400)
        let yearOfEra = yearFromMarch - era * 400
        let monthFromMarch = Int64(month > 2 ? month - 3 : month + 9)
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + (153 * monthFromMarch + 2) / 5
        firstDay = era * Self.daysInEra + dayOfEra - Self.epochDay
    }

    /// The month that holds a day counted from 1970-01-01.
    init(holding day: Int64) {
        let shifted = day + Self.epochDay
        let era = floorDivide(shifted, Self.daysInEra)
        let dayOfEra = shifted - era * Self.daysInEra
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        month = Int(monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9)
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        firstDay = day - (dayOfYear - (153 * monthFromMarch + 2) / 5)
    }

    /// How many days it has.
    var length: Int { Self.length(month: month, leap: Self.isLeap(year)) }

    /// The weekday of its first; 0 is Sunday.
    var firstWeekday: Int { Self.weekday(of: firstDay) }

    mutating func advance() {
        firstDay += Int64(length)
        month += 1
        if month == 13 {
            month = 1
            year += 1
        }
    }

    mutating func retreat() {
        month -= 1
        if month == 0 {
            month = 12
            year -= 1
        }
        firstDay -= Int64(length)
    }

    static func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    static func length(month: Int, leap: Bool) -> Int {
        switch month {
        case 2: leap ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// The weekday of a day counted from 1970-01-01, which was a Thursday; 0 is Sunday.
    static func weekday(of day: Int64) -> Int {
        let shifted = day + 4
        return Int(shifted - floorDivide(shifted, 7) * 7)
    }
}
