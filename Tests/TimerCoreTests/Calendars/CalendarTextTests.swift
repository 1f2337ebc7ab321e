import Testing

@testable import TimerCore

/// Calendars as clients write them, and the refusals.
struct CalendarTextTests {
    private typealias Interval = CalendarDefinition.Interval

    /// The intervals of each weekday from Sunday on, in hours; `-` for none.
    private func week(_ days: Days) throws -> [String] {
        try CalendarDefinition(week: days).week.map { intervals in
            let texts = intervals.map { "\($0.start / 3600)-\($0.end / 3600)" }
            return texts.isEmpty ? "-" : texts.joined(separator: ",")
        }
    }

    @Test(
        arguments: [
            (["mon-fri": ["09:00-17:00"]], ["-", "9-17", "9-17", "9-17", "9-17", "9-17", "-"]),
            (["fri-mon": ["09:00-17:00"]], ["9-17", "9-17", "-", "-", "-", "9-17", "9-17"]),
            (["sat-sun": ["09:00-17:00"], "mon": []], ["9-17", "-", "-", "-", "-", "-", "9-17"]),
            (["sun-sat": ["00:00-24:00"]], Array(repeating: "0-24", count: 7)),
            (["tue-mon": ["00:00-00:00"]], Array(repeating: "0-24", count: 7)),
            (["wed": ["22:00-06:00"], "thu": ["12:00:00-12:00:00"]], ["-", "-", "-", "22-30", "12-36", "-", "-"]),
            (["sun": ["13:00-18:00", "08:00-12:00", "12:00-13:00"]], ["8-18", "-", "-", "-", "-", "-", "-"]),
            (["sun": ["22:00-24:00", "01:00-02:00"]], ["1-2,22-24", "-", "-", "-", "-", "-", "-"]),
        ] as [(Days, [String])])
    func `a week has its days`(days: Days, expected: [String]) throws { #expect(try week(days) == expected) }

    @Test func `dates and ranges of them are days`() throws {
        let dates = try CalendarDefinition(
            week: ["mon": ["09:00-17:00"]],
            dates: ["2026-12-31/2027-01-02": [], "1970-01-01": ["09:30:15-10:00"], "2024-02-29/2024-02-29": []]
        ).dates
        #expect(dates.map(\.day) == [0, 19_782, 20_818, 20_819, 20_820])
        #expect(dates[0].intervals == [Interval(start: 34_215, end: 36_000)])
        #expect(dates[1...].allSatisfy { $0.intervals.isEmpty })
    }

    @Test func `calendars that mean the same are equal`() throws {
        let one = try CalendarDefinition(
            week: ["mon-tue": ["09:00-12:00", "12:00-17:00"]], dates: ["2026-01-01/2026-01-02": []])
        let other = try CalendarDefinition(
            week: ["tue": ["09:00-17:00"], "mon": ["09:00:00-17:00:00"], "sun": []],
            dates: ["2026-01-02": [], "2026-01-01": []])
        #expect(one == other)
        #expect(try one != CalendarDefinition(week: ["mon-tue": ["09:00-17:00"]], dates: ["2026-01-01": []]))
    }

    private func refusal(week: Days = ["mon": ["09:00-17:00"]], dates: Days = [:]) -> CalendarError? {
        do throws(CalendarError) {
            _ = try CalendarDefinition(week: week, dates: dates)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        arguments: [
            ([:], "/week", "must open at least once in the week"),
            (["mon": [], "tue-sun": []], "/week", "must open at least once in the week"),
            (["Mon": ["09:00-17:00"]], "/week/Mon", "'Mon' is neither a day"),
            (["monday": []], "/week/monday", "is neither a day"), (["": []], "/week/", "'' is neither a day"),
            (["mon-": []], "/week/mon-", "is neither a day"),
            (["mon-tue-wed": []], "/week/mon-tue-wed", "is neither a day"),
            (["mon,tue": []], "/week/mon,tue", "is neither a day"), (["a/b~": []], "/week/a~1b~0", "is neither a day"),
            (["mon-mon": []], "/week/mon-mon", "may mean a day or all seven"),
            (["mon-wed": ["09:00-17:00"], "sun-mon": []], "/week/sun-mon", "mon is in another key too"),
            (["mon": ["09:00-17:00", "9:00-10:00"]], "/week/mon/1", "'9:00-10:00' is no interval"),
            (["mon": ["24:00-02:00"]], "/week/mon/0", "24:00 can only be an end"),
            (["mon": ["09:00-12:00", "11:59:59-13:00"]], "/week/mon/1", "'11:59:59-13:00' overlaps '09:00-12:00'"),
            (["mon": ["11:00-13:00", "09:00-12:00"]], "/week/mon/1", "'09:00-12:00' overlaps '11:00-13:00'"),
            (["mon": ["22:00-06:00", "23:00-23:30"]], "/week/mon/1", "overlaps"),
            (["mon": ["09:00-12:00", "09:00-12:00"]], "/week/mon/1", "overlaps"),
            (["mon": Array(repeating: "09:00-12:00", count: 33)], "/week/mon", "has 33 intervals, more than 32"),
        ] as [(Days, String, String)])
    func `a week is refused with its place`(week: Days, pointer: String, message: String) {
        let error = refusal(week: week)
        #expect(error?.pointer == pointer)
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "accepted")")
    }

    @Test(arguments: [
        "", "09:00", "09:00-", "-17:00", "09:00-17:00-18:00", "09.00-17.00", "9:00-17:00", "09:60-17:00", "25:00-26:00",
        "09:00-24:01", "09:00-24:00:01", "09:00:60-17:00", "09:00-17:00 ", "09:00 - 17:00", "+9:00-17:00", "09-17",
        "09:00-17:00:0", "09:00:00:00-17:00",
    ])
    func `a text that is no interval is refused`(text: String) {
        #expect(
            refusal(week: ["mon": [text]])?.message == "\(CronError.quote(text.utf8)) is no interval, such as "
                + "09:00-12:30 or 09:00:00-12:30:00")
    }

    @Test(
        arguments: [
            (["2026-02-29": []], "/dates/2026-02-29", "is neither a date"),
            (["2026-1-1": []], "/dates/2026-1-1", "is neither a date"),
            (["24.12.2026": []], "/dates/24.12.2026", "is neither a date"),
            (["2026-12-24/": []], "/dates/2026-12-24~1", "is neither a date"),
            (
                ["2026-12-24/2026-12-25/2026-12-26": []], "/dates/2026-12-24~12026-12-25~12026-12-26",
                "is neither a date"
            ),
            (["2026-12-26/2026-12-24": []], "/dates/2026-12-26~12026-12-24", "ends before it begins"),
            (["2026-12-24": ["09:00"]], "/dates/2026-12-24/0", "is no interval"),
            (
                ["2026-12-25": [], "2026-12-24/2026-12-26": []], "/dates/2026-12-24~12026-12-26",
                "2026-12-25 is in another key too"
            ),
            (["2020-01-01/2025-06-23": [], "2026-01-01": []], "/dates", "has over 2000 days"),
            (["0000-01-01/9999-12-31": []], "/dates", "has over 2000 days"),
        ] as [(Days, String, String)])
    func `dates are refused with their place`(dates: Days, pointer: String, message: String) {
        let error = refusal(dates: dates)
        #expect(error?.pointer == pointer)
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "accepted")")
    }

    @Test func `the limits themselves are accepted`() throws {
        let intervals = (0..<32).map { format(hour: $0 / 2, minute: $0 % 2 * 30) }
        #expect(refusal(week: ["mon": intervals]) == nil)
        #expect(refusal(dates: ["2020-01-01/2025-06-22": []]) == nil)
    }

    private func format(hour: Int, minute: Int) -> String {
        let time = (hour < 10 ? "0" : "") + "\(hour):" + (minute < 10 ? "0" : "") + "\(minute)"
        return "\(time)-\(time):30"
    }
}
