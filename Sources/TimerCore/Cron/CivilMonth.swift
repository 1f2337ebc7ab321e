import Primitives

/// A month of the calendar, for searches that go month by month.
struct CivilMonth {
    private(set) var year: Int64
    /// The month of the year, 1 to 12.
    private(set) var month: Int
    /// The first day of the month, counted from 1970-01-01.
    private(set) var firstDay: Int64

    init(year: Int64, month: Int) {
        self.year = year
        self.month = month
        firstDay = CivilDate(year: year, firstOfMonth: Int64(month)).daysSince1970
    }

    /// Makes the month that holds a day, counted from 1970-01-01.
    init(holding day: Int64) {
        let date = CivilDate(daysSince1970: day)
        year = date.year
        month = Int(date.month)
        firstDay = day - date.day + 1
    }

    /// The number of days in the month.
    var length: Int { Int(CivilDate.days(ofMonth: Int64(month), isLeap: CivilDate.isLeap(year))) }

    /// The weekday of the first day; 0 is Sunday.
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

    /// Returns the weekday of a day counted from 1970-01-01, which was a Thursday; 0 is Sunday.
    static func weekday(of day: Int64) -> Int {
        let shifted = day + 4
        return Int(shifted - floorDivide(shifted, 7) * 7)
    }
}
