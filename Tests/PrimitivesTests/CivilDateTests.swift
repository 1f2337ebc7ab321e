import Foundation
import Primitives
import Testing

struct CivilDateTests {
    @Test func `dates are those of Foundation's calendar`() {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        // Foundation keeps the Julian calendar before 1582; each date to 9999-12-31 would take it too long.
        for day in stride(from: Int64(-141_427), to: 2_932_897, by: 997) {
            let parts = calendar.dateComponents(
                [.year, .month, .day], from: Date(timeIntervalSince1970: Double(day) * 86_400))
            let date = CivilDate(daysSince1970: day)
            #expect([date.year, date.month, date.day] == [parts.year, parts.month, parts.day].map { Int64($0 ?? 0) })
            #expect(date.daysSince1970 == day)
        }
    }

    @Test func `each day from the year -400 to 2400 follows the one before`() {
        var date = CivilDate(year: -400, firstOfMonth: 3)
        var day = date.daysSince1970
        while date.year < 2400 {
            let next = CivilDate(daysSince1970: day + 1)
            let length = CivilDate.days(ofMonth: date.month, isLeap: CivilDate.isLeap(date.year))
            let isInMonth = next.day == date.day + 1 && (next.year, next.month) == (date.year, date.month)
            let isFirst = next.day == 1 && date.day == length
            let month = next.year * 12 + next.month - date.year * 12 - date.month
            guard isInMonth || isFirst && month == 1, next.daysSince1970 == day + 1 else {
                Issue.record("\(next) follows \(date)")
                return
            }
            date = next
            day += 1
        }
    }

    @Test(
        arguments: [
            (2026, 0, 1), (2026, 13, 1), (2026, 1, 0), (2026, 1, 32), (2026, 4, 31), (2026, 2, 29), (1900, 2, 29),
            (0, 2, 30),
        ] as [(Int64, Int64, Int64)])
    func `the calendar has no such date`(year: Int64, month: Int64, day: Int64) {
        #expect(CivilDate(year: year, month: month, day: day) == nil)
    }

    @Test(
        arguments: [
            (1970, 1, 1, 0), (1969, 12, 31, -1), (2000, 2, 29, 11_016), (0, 1, 1, -719_528), (0, 2, 29, -719_469),
        ] as [(Int64, Int64, Int64, Int64)])
    func `a date's day`(year: Int64, month: Int64, day: Int64, days: Int64) {
        #expect(CivilDate(year: year, month: month, day: day)?.daysSince1970 == days)
        #expect(CivilDate(daysSince1970: days) == CivilDate(year: year, month: month, day: day))
    }
}
