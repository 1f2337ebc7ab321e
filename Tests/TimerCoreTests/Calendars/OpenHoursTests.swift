import TestSupport
import Testing

@testable import TimerCore

/// Open time on the wall clock. Instants are in UTC.
struct OpenHoursTests {
    struct Case: CustomTestStringConvertible {
        var zone = "UTC"
        let week: Days
        var dates: Days = [:]
        let from: String
        let until: String
        let expected: [String]

        var testDescription: String { "\(week) in \(zone) from \(from)" }
    }

    private func check(_ test: Case) throws {
        let hours = try OpenHours(test.zone, week: test.week, dates: test.dates)
        #expect(try hours.open(from: test.from, until: test.until) == test.expected)
    }

    @Test(arguments: [
        // 2026-11-20 is a Friday.
        Case(
            week: ["mon-fri": ["09:00-12:30", "13:30-18:00"]], from: "2026-11-20T10:00Z", until: "2026-11-23T14:00Z",
            expected: [
                "2026-11-20T10:00Z 2026-11-20T12:30Z", "2026-11-20T13:30Z 2026-11-20T18:00Z",
                "2026-11-23T09:00Z 2026-11-23T12:30Z", "2026-11-23T13:30Z 2026-11-23T14:00Z",
            ]),
        // A night belongs to the day where it begins, and joins what it meets or overlaps.
        Case(
            week: ["fri": ["22:00-06:00"], "sat": ["05:00-10:00"], "sun": ["00:00-02:00"]],
            from: "2026-11-20T00:00Z", until: "2026-11-24T00:00Z",
            expected: ["2026-11-20T22:00Z 2026-11-21T10:00Z", "2026-11-22T00:00Z 2026-11-22T02:00Z"]),
        Case(
            week: ["sat": ["22:00-24:00"], "sun": ["00:00-02:00"]], from: "2026-11-20T00:00Z",
            until: "2026-11-24T00:00Z", expected: ["2026-11-21T22:00Z 2026-11-22T02:00Z"]),
        Case(
            week: ["mon-sun": ["00:00-24:00"]], from: "1900-01-01T00:00Z", until: "9999-12-31T00:00Z",
            expected: ["1900-01-01T00:00Z 9999-12-31T00:00Z"]),
        Case(
            week: ["sun": ["12:00-12:00"], "mon": ["11:00-12:00"]], from: "2026-11-20T00:00Z",
            until: "2026-11-24T00:00Z", expected: ["2026-11-22T12:00Z 2026-11-23T12:00Z"]),
        // The night before a closed date goes on, and the closed date's own night does not begin.
        Case(
            week: ["mon-sun": ["22:00-06:00"]], dates: ["2026-11-21": []], from: "2026-11-20T12:00Z",
            until: "2026-11-23T00:00Z",
            expected: ["2026-11-20T22:00Z 2026-11-21T06:00Z", "2026-11-22T22:00Z 2026-11-23T00:00Z"]),
        // A date's own night reaches into a day that is closed.
        Case(
            week: ["mon": ["09:00-10:00"]], dates: ["2026-11-21": ["22:00-06:00"], "2026-11-23": []],
            from: "2026-11-20T00:00Z", until: "2026-11-24T00:00Z", expected: ["2026-11-21T22:00Z 2026-11-22T06:00Z"]),
        Case(
            week: ["mon": ["09:00-10:00"]], from: "1969-12-28T00:00Z", until: "1970-01-06T00:00Z",
            expected: ["1969-12-29T09:00Z 1969-12-29T10:00Z", "1970-01-05T09:00Z 1970-01-05T10:00Z"]),
    ])
    func `it is open in its hours`(test: Case) throws { try check(test) }

    @Test(arguments: [
        // Clocks go from 02:00 to 03:00 at 01:00Z: both ends in the gap are its end.
        Case(
            zone: "Europe/Berlin", week: ["sun": ["01:00-02:30", "02:45-04:00"]], from: "2026-03-29T00:00Z",
            until: "2026-03-30T00:00Z", expected: ["2026-03-29T00:00Z 2026-03-29T02:00Z"]),
        Case(
            zone: "Europe/Berlin", week: ["sun": ["02:15-02:45"]], from: "2026-03-28T00:00Z",
            until: "2026-04-06T00:00Z", expected: ["2026-04-05T00:15Z 2026-04-05T00:45Z"]),
        Case(
            zone: "Europe/Berlin", week: ["sat": ["22:00-06:00"]], from: "2026-03-28T00:00Z",
            until: "2026-03-30T00:00Z", expected: ["2026-03-28T21:00Z 2026-03-29T04:00Z"]),
        // Clocks go from 03:00 back to 02:00 at 01:00Z: both ends are the first of two.
        Case(
            zone: "Europe/Berlin", week: ["sun": ["02:00-02:30", "02:45-04:00"]], from: "2026-10-25T00:00Z",
            until: "2026-10-26T00:00Z",
            expected: ["2026-10-25T00:00Z 2026-10-25T00:30Z", "2026-10-25T00:45Z 2026-10-25T03:00Z"]),
        Case(
            zone: "Europe/Berlin", week: ["sun": ["02:30-03:00"]], from: "2026-10-24T00:00Z",
            until: "2026-10-26T00:00Z", expected: ["2026-10-25T00:30Z 2026-10-25T02:00Z"]),
        Case(
            zone: "Europe/Berlin", week: ["sun": ["01:00-02:00", "03:00-04:00"]], from: "2026-10-24T00:00Z",
            until: "2026-10-26T00:00Z",
            expected: ["2026-10-24T23:00Z 2026-10-25T00:00Z", "2026-10-25T02:00Z 2026-10-25T03:00Z"]),
        // The same in a year in which the table of the zone repeats itself, and on a date.
        Case(
            zone: "Europe/Berlin", week: ["sun": ["02:30-03:00"]], from: "8426-10-24T00:00Z",
            until: "8426-10-26T00:00Z", expected: ["8426-10-25T00:30Z 8426-10-25T02:00Z"]),
        Case(
            zone: "Europe/Berlin", week: ["mon": ["09:00-10:00"]], dates: ["8426-10-25": ["02:30-03:00"]],
            from: "8426-10-24T00:00Z", until: "8426-10-26T00:00Z", expected: ["8426-10-25T00:30Z 8426-10-25T02:00Z"]),
        // The offset changes by half an hour: 02:00 to 02:30 is left out, 01:30 to 02:00 comes twice.
        Case(
            zone: "Australia/Lord_Howe", week: ["sun": ["01:00-02:15"]], from: "2026-10-03T00:00Z",
            until: "2026-10-05T00:00Z", expected: ["2026-10-03T14:30Z 2026-10-03T15:30Z"]),
        Case(
            zone: "Australia/Lord_Howe", week: ["sun": ["01:00-02:00"]], from: "2026-04-04T00:00Z",
            until: "2026-04-06T00:00Z", expected: ["2026-04-04T14:00Z 2026-04-04T15:30Z"]),
        // Friday, 30 December 2011, was left out: only a night that began on Thursday is left of it.
        Case(
            zone: "Pacific/Apia", week: ["fri": ["09:00-17:00"]], from: "2011-12-25T00:00Z", until: "2012-01-07T00:00Z",
            expected: ["2012-01-05T19:00Z 2012-01-06T03:00Z"]),
        Case(
            zone: "Pacific/Apia", week: ["thu": ["22:00-06:00"], "sat": ["00:00-01:00"]], from: "2011-12-27T00:00Z",
            until: "2012-01-01T00:00Z", expected: ["2011-12-30T08:00Z 2011-12-30T11:00Z"]),
    ])
    func `its ends follow the local clock`(test: Case) throws { try check(test) }

    @Test func `a list is cut at its limit and says where it goes on`() throws {
        let hours = try OpenHours(week: ["mon-fri": ["09:00-12:00", "13:00-17:00"]])
        let (start, end) = ("2026-11-20T00:00Z", "2026-11-23T12:00Z")
        let all = ["2026-11-20T09:00Z 2026-11-20T12:00Z", "2026-11-20T13:00Z 2026-11-20T17:00Z"]
        #expect(try hours.open(from: start, until: end, limit: 2) == all + ["then 2026-11-23T09:00Z"])
        #expect(try hours.open(from: start, until: end, limit: 0) == ["then 2026-11-20T09:00Z"])
        #expect(try hours.open(from: start, until: "2026-11-23T09:00Z", limit: 2) == all)
        #expect(try hours.open(from: end, until: start) == [])
    }

    @Test(arguments: [
        // Eight hours from Friday 15:00 are used up on Monday.
        ("2026-11-20T15:00Z", 8, "2026-11-23T15:00Z"),
        // Time that is used up at a closing is due there, and none at once.
        ("2026-11-20T15:00Z", 2, "2026-11-20T17:00Z"), ("2026-11-21T15:00Z", 8, "2026-11-23T17:00Z"),
        ("2026-11-21T15:00Z", 0, "2026-11-21T15:00Z"), ("2026-11-20T17:00Z", 1, "2026-11-23T10:00Z"),
        ("2026-11-20T15:00Z", 40, "2026-11-27T15:00Z"), ("1969-12-31T15:00Z", 3, "1970-01-01T10:00Z"),
        // A year of 261 such days.
        ("2025-12-31T17:00Z", 2088, "2026-12-31T17:00Z"),
    ])
    func `working time is due when it is used up`(start: String, openHours: Int64, due: String) throws {
        let hours = try OpenHours(week: ["mon-fri": ["09:00-17:00"]])
        let start = try ZoneFiles.instant(start)
        let found = try #require(hours.due(after: openHours * 3_600_000, from: start))
        #expect(ZoneFiles.text(found) == due)
        #expect(hours.elapsed(from: start, to: found) == openHours * 3_600_000)
    }

    @Test(arguments: [30, 45, 90, 91])
    func `time that comes twice is open as long as it lasts`(minutes: Int64) throws {
        // From 02:30 to 03:00, but an hour longer when the clocks go from 03:00 back to 02:00 at 01:00Z.
        let hours = try OpenHours("Europe/Berlin", week: ["sun": ["02:30-03:00"]])
        let opening = try ZoneFiles.instant("2026-10-25T00:30Z")
        let nextWeek = try ZoneFiles.instant("2026-11-01T01:30Z")
        let expected = minutes <= 90 ? opening + minutes * 60_000 : nextWeek + (minutes - 90) * 60_000
        #expect(hours.due(after: minutes * 60_000, from: opening - 1000) == expected)
        #expect(hours.elapsed(from: opening, to: expected) == minutes * 60_000)
        #expect(hours.isOpen(at: expected - 1))
        #expect(hours.isOpen(at: expected) == (minutes != 90))
    }

    @Test func `an interval that comes twice is open the first time`() throws {
        let hours = try OpenHours("Europe/Berlin", week: ["sun": ["02:00-02:30"]])
        #expect(hours.isOpen(at: try ZoneFiles.instant("2026-10-25T00:15Z")))
        #expect(!hours.isOpen(at: try ZoneFiles.instant("2026-10-25T01:15Z")))
    }

    @Test func `changes of offset add up over the centuries`() throws {
        let hours = try OpenHours("Europe/Berlin", week: ["sun": ["02:30-03:00"]])
        let start = try ZoneFiles.instant("2026-01-01T00:00Z")
        // 400 years have 20,871 Sundays; in each year one of these half hours is left out and one is an hour longer.
        let cycle = Int64(20_871 * 30 + 400 * 30) * 60_000
        let years = TimeZoneTable.cycle * 1000
        #expect(hours.elapsed(from: start, to: start + years) == cycle)
        #expect(hours.elapsed(from: start, to: start + 19 * years) == 19 * cycle)
        let due = try #require(hours.due(after: 19 * cycle + 1, from: start))
        #expect(hours.elapsed(from: start + 19 * years, to: due) == 1)
    }

    @Test func `nothing is due after the year 9999`() throws {
        let hours = try OpenHours("Europe/Berlin", week: ["thu": ["09:00-10:00"]])
        let start = try ZoneFiles.instant("9999-12-30T00:00Z")
        #expect(hours.due(after: 3_600_000, from: start) == start + 33 * 3_600_000 - 24 * 3_600_000)
        #expect(hours.due(after: 3_600_001, from: start) == nil)
        #expect(hours.due(after: .max, from: start) == nil)
        #expect(hours.nextOpening(atOrAfter: start + 86_400_000) == nil)
        #expect(hours.nextOpening(atOrAfter: .max) == nil)
        #expect(hours.elapsed(from: .min, to: .max) == hours.elapsed(from: -lastInstant - 1, to: lastInstant + 1))
    }

    @Test(arguments: [
        "UTC", "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca", "America/Asuncion",
    ])
    func `the open time until a due instant is the time it was due after`(name: String) throws {
        let zone = try ZoneFiles.zone(name)
        var random = SeededGenerator(seed: 37)
        for _ in 0..<30 {
            let day = random.number(-40_000...200_000)
            let hours = OpenHours.random(&random, in: zone, near: day)
            for _ in 0..<50 {
                let start = (day + random.number(-40...40)) * Schedule.day + random.number(0...86_399_999)
                let time = 1 + abs(random.number() % (random.chance(oneIn: 4) ? 3_000_000_000_000 : 500_000_000))
                let due = try #require(hours.due(after: time, from: start))
                #expect(hours.elapsed(from: start, to: due) == time)
                #expect(hours.elapsed(from: start, to: due - 1) == time - 1)
                guard random.chance(oneIn: 10) else { continue }
                // The same time counted by the intervals.
                let last = min(due, start + 30 * Schedule.day)
                let open = hours.open(from: start, until: last, limit: 10_000).intervals
                #expect(open.reduce(0) { $0 + $1.upperBound - $1.lowerBound } == hours.elapsed(from: start, to: last))
                #expect(open.allSatisfy { hours.isOpen(at: $0.lowerBound) && hours.isOpen(at: $0.upperBound - 1) })
                #expect(open.dropLast().allSatisfy { !hours.isOpen(at: $0.upperBound) })
            }
        }
    }
}
