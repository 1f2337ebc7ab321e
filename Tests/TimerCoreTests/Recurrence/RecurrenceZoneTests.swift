import Testing

@testable import TimerCore

/// Schedules around a change of the zone's offset, and the ends of a schedule. Instants are in UTC.
struct RecurrenceZoneTests {
    struct Case: CustomTestStringConvertible {
        let zone: String
        let rule: String
        let from: String
        let expected: [String]

        init(_ zone: String, _ rule: String, from: String, _ expected: [String]) {
            self.zone = zone
            self.rule = rule
            self.from = from
            self.expected = expected
        }

        var testDescription: String { "\(rule) in \(zone) from \(from)" }
    }

    /// Compares the first instants, and `latest` at each of them.
    private func check(_ test: Case, isAll: Bool = false) throws {
        let zone = try ZoneFiles.zone(test.zone)
        let schedule = try RecurrenceSchedule(test.rule, from: test.from)
        let fires = schedule.fires(after: .min, in: zone, count: test.expected.count + (isAll ? 1 : 0))
        #expect(fires.map(ZoneFiles.text) == test.expected)
        for (index, fire) in fires.enumerated() {
            let latest = schedule.latest(after: .min, through: fire, in: zone)
            #expect(latest?.instant == fire && latest?.count == Int64(index + 1))
            let before = schedule.latest(after: .min, through: fire - 1, in: zone)
            #expect(before?.instant == (index == 0 ? nil : fires[index - 1]))
        }
    }

    @Test(arguments: [
        // Clocks go from 02:00 to 03:00 at 01:00Z.
        Case(
            "Europe/Berlin", "FREQ=DAILY;BYHOUR=2;BYMINUTE=30", from: "2026-03-28T00:00Z",
            ["2026-03-28T01:30Z", "2026-03-29T01:30Z", "2026-03-30T00:30Z"]),
        // 02:00 is the gap's own start.
        Case(
            "Europe/Berlin", "FREQ=DAILY;BYHOUR=2;COUNT=3", from: "2026-03-28T00:00Z",
            ["2026-03-28T01:00Z", "2026-03-29T01:00Z", "2026-03-30T00:00Z"]),
        // 02:15 and 03:15 are one instant, and so are 02:45 and 03:45.
        Case(
            "Europe/Berlin", "FREQ=DAILY;BYHOUR=2,3;BYMINUTE=15,45;COUNT=8", from: "2026-03-28T00:00Z",
            [
                "2026-03-28T01:15Z", "2026-03-28T01:45Z", "2026-03-28T02:15Z", "2026-03-28T02:45Z",
                "2026-03-29T01:15Z", "2026-03-29T01:45Z", "2026-03-30T00:15Z", "2026-03-30T00:45Z",
            ]),
        // 02:45 comes after 03:15.
        Case(
            "Europe/Berlin", "FREQ=DAILY;BYHOUR=2,3;BYMINUTE=15,45;BYSETPOS=2,3;COUNT=5", from: "2026-03-28T00:00Z",
            ["2026-03-28T01:45Z", "2026-03-28T02:15Z", "2026-03-29T01:15Z", "2026-03-29T01:45Z", "2026-03-30T00:45Z"]),
        Case(
            "Europe/Berlin", "FREQ=DAILY;BYHOUR=2,3;BYMINUTE=15,45;BYSETPOS=2,3;COUNT=3", from: "2026-03-28T00:00Z",
            ["2026-03-28T01:45Z", "2026-03-28T02:15Z", "2026-03-29T01:15Z"]),
        // The same as weeks, where positions are those of a week.
        Case(
            "Europe/Berlin", "FREQ=WEEKLY;BYDAY=SU;BYHOUR=2,3;BYMINUTE=15,45;BYSETPOS=1,2,3;COUNT=3",
            from: "2026-03-28T00:00Z", ["2026-03-29T01:15Z", "2026-03-29T01:45Z", "2026-04-05T00:15Z"]),
        // Clocks go from 02:00 to 02:30 at 15:30Z.
        Case(
            "Australia/Lord_Howe", "FREQ=DAILY;BYHOUR=2;BYMINUTE=15,45;COUNT=4", from: "2026-10-02T12:00Z",
            ["2026-10-02T15:45Z", "2026-10-02T16:15Z", "2026-10-03T15:45Z", "2026-10-04T15:15Z"]),
        // 30 December was left out: its 09:00 is that of the 31st.
        Case(
            "Pacific/Apia", "FREQ=DAILY;COUNT=4", from: "2011-12-28T19:00Z",
            ["2011-12-28T19:00Z", "2011-12-29T19:00Z", "2011-12-30T19:00Z", "2011-12-31T19:00Z"]),
        Case(
            "Pacific/Apia", "FREQ=MONTHLY;BYMONTHDAY=30", from: "2011-11-30T19:00Z",
            ["2011-11-30T19:00Z", "2011-12-30T19:00Z", "2012-01-29T19:00Z"]),
    ])
    func `what a gap leaves out is read with the offset before`(test: Case) throws {
        try check(test, isAll: test.rule.contains("COUNT"))
    }

    @Test(arguments: [
        // Clocks go from 03:00 back to 02:00 at 01:00Z.
        Case(
            "Europe/Berlin", "FREQ=DAILY;BYHOUR=2;BYMINUTE=30", from: "2026-10-24T12:00Z",
            ["2026-10-25T00:30Z", "2026-10-26T01:30Z"]),
        Case(
            "Europe/Berlin", "FREQ=DAILY;BYHOUR=2,3;BYMINUTE=0,30;COUNT=5", from: "2026-10-24T12:00Z",
            ["2026-10-25T00:00Z", "2026-10-25T00:30Z", "2026-10-25T02:00Z", "2026-10-25T02:30Z", "2026-10-26T01:00Z"]),
        // The start is 02:30 for the second time, and so before itself.
        Case("Europe/Berlin", "FREQ=DAILY;COUNT=1", from: "2026-10-25T01:30Z", ["2026-10-26T01:30Z"]),
        Case("Europe/Berlin", "FREQ=DAILY;COUNT=1", from: "2026-10-25T00:30Z", ["2026-10-25T00:30Z"]),
    ])
    func `what comes twice is the first`(test: Case) throws { try check(test, isAll: test.rule.contains("COUNT")) }

    @Test(arguments: [
        Case(
            "Europe/Berlin", "FREQ=DAILY", from: "2026-03-27T23:30:10Z",
            ["2026-03-27T23:30:10Z", "2026-03-28T23:30:10Z", "2026-03-29T22:30:10Z"]),
        Case("Europe/Berlin", "FREQ=DAILY;BYHOUR=8", from: "2026-06-01T20:15Z", ["2026-06-02T06:15Z"]),
        Case("Europe/Berlin", "FREQ=DAILY;BYMINUTE=0", from: "2026-06-01T20:15:07Z", ["2026-06-02T20:00:07Z"]),
        Case("Europe/Berlin", "FREQ=WEEKLY", from: "2026-05-31T22:30Z", ["2026-05-31T22:30Z", "2026-06-07T22:30Z"]),
        Case("Pacific/Apia", "FREQ=MONTHLY", from: "2026-01-30T12:00Z", ["2026-01-30T12:00Z", "2026-03-30T12:00Z"]),
        Case("UTC", "FREQ=YEARLY", from: "2024-02-29T12:00Z", ["2024-02-29T12:00Z", "2028-02-29T12:00Z"]),
        Case(
            "UTC", "FREQ=YEARLY;BYMONTH=1,3", from: "2026-03-31T12:00Z", ["2026-03-31T12:00Z", "2027-01-31T12:00Z"]),
        Case("UTC", "FREQ=YEARLY;BYWEEKNO=20", from: "2026-05-13T12:00Z", ["2026-05-13T12:00Z", "2027-05-19T12:00Z"]),
        // The start is a Thursday, and no instant of the rule.
        Case(
            "UTC", "FREQ=WEEKLY;BYDAY=TU;COUNT=2", from: "2026-01-01T12:00Z",
            ["2026-01-06T12:00Z", "2026-01-13T12:00Z"]),
    ])
    func `what the rule leaves open is as at the start`(test: Case) throws { try check(test) }

    @Test(arguments: [
        // 20:00Z of 2 June is 22:00 in Berlin.
        Case(
            "Europe/Berlin", "FREQ=DAILY;UNTIL=20260602T200000Z", from: "2026-06-01T20:00Z",
            ["2026-06-01T20:00Z", "2026-06-02T20:00Z"]),
        Case("Europe/Berlin", "FREQ=DAILY;UNTIL=20260602T195959Z", from: "2026-06-01T20:00Z", ["2026-06-01T20:00Z"]),
        Case(
            "Europe/Berlin", "FREQ=DAILY;UNTIL=20260602T220000", from: "2026-06-01T20:00Z",
            ["2026-06-01T20:00Z", "2026-06-02T20:00Z"]),
        Case("Europe/Berlin", "FREQ=DAILY;UNTIL=20260602T215959", from: "2026-06-01T20:00Z", ["2026-06-01T20:00Z"]),
        Case(
            "Europe/Berlin", "FREQ=DAILY;UNTIL=20260602", from: "2026-06-01T20:00Z",
            ["2026-06-01T20:00Z", "2026-06-02T20:00Z"]),
        // 22:30Z of 1 June is in the local day of the 2nd.
        Case("Europe/Berlin", "FREQ=DAILY;UNTIL=20260602", from: "2026-06-01T22:30Z", ["2026-06-01T22:30Z"]),
        Case("Europe/Berlin", "FREQ=DAILY;UNTIL=20260531", from: "2026-06-01T20:00Z", []),
        Case("UTC", "FREQ=MONTHLY;COUNT=1", from: "2026-01-31T12:00Z", ["2026-01-31T12:00Z"]),
        Case(
            "UTC", "FREQ=MONTHLY;COUNT=3", from: "2026-01-31T12:00Z",
            ["2026-01-31T12:00Z", "2026-03-31T12:00Z", "2026-05-31T12:00Z"]),
        Case(
            "Pacific/Kiritimati", "FREQ=YEARLY", from: "9998-12-31T10:00Z", ["9998-12-31T10:00Z", "9999-12-31T10:00Z"]),
        Case("America/New_York", "FREQ=DAILY", from: "9999-12-31T04:00Z", ["9999-12-31T04:00Z"]),
    ])
    func `a schedule ends`(test: Case) throws { try check(test, isAll: true) }

    @Test func `the start is rounded up to a second, and nothing is due before it`() throws {
        let schedule = try RecurrenceSchedule(Array("FREQ=DAILY".utf8), zone: Array("UTC".utf8), from: 1)
        #expect(schedule.from == 1000)
        #expect(schedule.next(after: .min, in: .utc) == 1000)
        #expect(schedule.next(after: 1000, in: .utc) == 86_401_000)
        let later = schedule.starting(from: 5_000_500)
        #expect(later.from == 5_001_000 && later.next(after: 0, in: .utc) == 5_001_000)
        #expect(later != schedule && later.starting(from: 1) == schedule)
    }
}
