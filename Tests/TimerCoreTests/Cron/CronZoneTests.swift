import Testing

@testable import TimerCore

/// Schedules around a change of the zone's offset. Instants are in UTC.
struct CronZoneTests {
    struct Case: CustomTestStringConvertible {
        let zone: String
        let text: String
        let after: String
        let expected: [String]

        init(_ zone: String, _ text: String, after: String, _ expected: [String]) {
            self.zone = zone
            self.text = text
            self.after = after
            self.expected = expected
        }

        var testDescription: String { "\(text) in \(zone) after \(after)" }
    }

    private func check(_ test: Case) throws {
        let zone = try ZoneFiles.zone(test.zone)
        let schedule = try CronSchedule(test.text)
        let expected = test.expected
        #expect(try schedule.fires(after: test.after, in: zone, count: expected.count) == expected)
        let latest = schedule.latest(
            after: try ZoneFiles.instant(test.after), through: try ZoneFiles.instant(expected[expected.count - 1]),
            in: zone)
        #expect(latest?.count == Int64(expected.count))
    }

    @Test(arguments: [
        // Clocks go from 02:00 to 03:00 at 01:00Z.
        Case("Europe/Berlin", "30 2 * * *", after: "2026-03-28T12:00Z", ["2026-03-29T01:00Z", "2026-03-30T00:30Z"]),
        Case(
            "Europe/Berlin", "0,15,30 2 * * *", after: "2026-03-28T12:00Z", ["2026-03-29T01:00Z", "2026-03-30T00:00Z"]),
        Case(
            "Europe/Berlin", "0,30 2,3 * * *", after: "2026-03-28T12:00Z", ["2026-03-29T01:00Z", "2026-03-29T01:30Z"]),
        Case("Europe/Berlin", "0 30 2 * * *", after: "2026-03-28T12:00Z", ["2026-03-29T01:00Z", "2026-03-30T00:30Z"]),
        Case(
            "Europe/Berlin", "*/40 30 2 * * *", after: "2026-03-28T12:00Z", ["2026-03-29T01:00Z", "2026-03-30T00:30Z"]),
        Case("Europe/Berlin", "0 3 * * *", after: "2026-03-28T12:00Z", ["2026-03-29T01:00Z", "2026-03-30T01:00Z"]),
        Case("Europe/Berlin", "30 2 29 3 *", after: "2026-03-29T00:59Z", ["2026-03-29T01:00Z", "2027-03-29T00:30Z"]),
        Case("Europe/Dublin", "30 1 * * *", after: "2026-03-28T12:00Z", ["2026-03-29T01:00Z", "2026-03-30T00:30Z"]),
        // Clocks go from 02:00 to 02:30 at 15:30Z.
        Case(
            "Australia/Lord_Howe", "15 2 * * *", after: "2026-10-02T20:00Z", ["2026-10-03T15:30Z", "2026-10-04T15:15Z"]),
        Case(
            "Australia/Lord_Howe", "0 2,3 * * *", after: "2026-10-02T20:00Z",
            ["2026-10-03T15:30Z", "2026-10-03T16:00Z"]),
        // Clocks go from 00:00 to 01:00.
        Case("America/Asuncion", "0 0 * * *", after: "2023-09-30T12:00Z", ["2023-10-01T04:00Z", "2023-10-02T03:00Z"]),
        Case("America/Asuncion", "@daily", after: "2023-09-30T12:00Z", ["2023-10-01T04:00Z", "2023-10-02T03:00Z"]),
        Case("Africa/Cairo", "0 0 * * *", after: "2023-04-27T12:00Z", ["2023-04-27T22:00Z", "2023-04-28T21:00Z"]),
        // 30 December was left out.
        Case(
            "Pacific/Apia", "0 9 * * *", after: "2011-12-29T12:00Z",
            ["2011-12-29T19:00Z", "2011-12-30T10:00Z", "2011-12-30T19:00Z"]),
        Case("Pacific/Apia", "0 9 30 12 *", after: "2011-12-01T00:00Z", ["2011-12-30T10:00Z", "2012-12-29T19:00Z"]),
        Case("Pacific/Apia", "0 0 31 12 *", after: "2011-12-01T00:00Z", ["2011-12-30T10:00Z", "2012-12-30T10:00Z"]),
    ])
    func `what a gap leaves out fires once, as it ends`(test: Case) throws { try check(test) }

    @Test(arguments: [
        // Clocks go from 03:00 back to 02:00 at 01:00Z.
        Case("Europe/Berlin", "30 2 * * *", after: "2026-10-24T12:00Z", ["2026-10-25T00:30Z", "2026-10-26T01:30Z"]),
        Case(
            "Europe/Berlin", "0,30 2,3 * * *", after: "2026-10-24T12:00Z",
            ["2026-10-25T00:00Z", "2026-10-25T00:30Z", "2026-10-25T02:00Z"]),
        Case("Europe/Berlin", "30 2 * * *", after: "2026-10-25T00:30Z", ["2026-10-26T01:30Z"]),
        Case("Europe/Berlin", "30 2 * * *", after: "2026-10-25T01:10Z", ["2026-10-26T01:30Z"]),
        Case(
            "Europe/Berlin", "* 30 2 25 10 *", after: "2026-10-25T00:30:58Z",
            ["2026-10-25T00:30:59Z", "2027-10-25T00:30Z"]),
        Case("Europe/Dublin", "30 1 * * *", after: "2026-10-24T12:00Z", ["2026-10-25T00:30Z", "2026-10-26T01:30Z"]),
        Case(
            "Australia/Lord_Howe", "45 1 * * *", after: "2026-04-04T00:00Z", ["2026-04-04T14:45Z", "2026-04-05T15:15Z"]),
        Case(
            "America/Asuncion", "30 23 * * *", after: "2023-03-25T12:00Z", ["2023-03-26T02:30Z", "2023-03-27T03:30Z"]),
        Case("Africa/Cairo", "30 23 * * *", after: "2023-10-26T12:00Z", ["2023-10-26T20:30Z", "2023-10-27T21:30Z"]),
        Case("Africa/Cairo", "0 0 * * *", after: "2023-10-26T12:00Z", ["2023-10-26T22:00Z", "2023-10-27T22:00Z"]),
    ])
    func `what comes again fires the first time`(test: Case) throws { try check(test) }

    @Test(arguments: [
        Case(
            "Europe/Berlin", "*/30 * * * *", after: "2026-03-29T00:00Z",
            ["2026-03-29T00:30Z", "2026-03-29T01:00Z", "2026-03-29T01:30Z"]),
        Case("Europe/Berlin", "*/30 2 * * *", after: "2026-03-28T12:00Z", ["2026-03-30T00:00Z", "2026-03-30T00:30Z"]),
        Case("Europe/Berlin", "30 */2 * * *", after: "2026-03-28T23:00Z", ["2026-03-28T23:30Z", "2026-03-29T02:30Z"]),
        Case(
            "Europe/Berlin", "0 30 */2 * * *", after: "2026-10-25T00:00Z",
            ["2026-10-25T00:30Z", "2026-10-25T01:30Z", "2026-10-25T03:30Z"]),
        Case(
            "Europe/Berlin", "*/30 2 * * *", after: "2026-10-24T12:00Z",
            ["2026-10-25T00:00Z", "2026-10-25T00:30Z", "2026-10-25T01:00Z", "2026-10-25T01:30Z", "2026-10-26T01:00Z"]),
        Case(
            "Australia/Lord_Howe", "*/15 1 * * *", after: "2026-04-04T14:20Z",
            ["2026-04-04T14:30Z", "2026-04-04T14:45Z", "2026-04-04T15:00Z", "2026-04-04T15:15Z", "2026-04-05T14:30Z"]),
        Case(
            "America/Asuncion", "*/30 0 * * *", after: "2023-09-30T12:00Z", ["2023-10-02T03:00Z", "2023-10-02T03:30Z"]),
        Case("Pacific/Apia", "0 */12 * * *", after: "2011-12-29T12:00Z", ["2011-12-29T22:00Z", "2011-12-30T10:00Z"]),
        Case("Africa/Cairo", "@hourly", after: "2023-10-26T19:30Z", ["2023-10-26T20:00Z", "2023-10-26T21:00Z"]),
        Case(
            "Europe/Berlin", "0 0-23 * * *", after: "2026-10-24T23:30Z",
            ["2026-10-25T00:00Z", "2026-10-25T01:00Z", "2026-10-25T02:00Z"]),
        Case(
            "Europe/Berlin", "0-59/30 2 * * *", after: "2026-10-24T12:00Z",
            ["2026-10-25T00:00Z", "2026-10-25T00:30Z", "2026-10-25T01:00Z", "2026-10-25T01:30Z", "2026-10-26T01:00Z"]),
    ])
    func `a star for hour or minute follows elapsed time`(test: Case) throws { try check(test) }

    @Test(arguments: [
        Case("Europe/Berlin", "0 12 28 3 *", after: "2100-01-01T00:00Z", ["2100-03-28T10:00Z"]),
        Case("Europe/Berlin", "30 2 28 3 *", after: "2100-01-01T00:00Z", ["2100-03-28T01:00Z"]),
        Case("Europe/Berlin", "30 2 26 3 *", after: "2400-01-01T00:00Z", ["2400-03-26T01:00Z", "2401-03-26T00:30Z"]),
        Case("Europe/Berlin", "0 0 29 2 *", after: "2097-01-01T00:00Z", ["2104-02-28T23:00Z"]),
        Case("Europe/Berlin", "30 2 * 10 */7", after: "9999-10-26T00:00Z", ["9999-10-31T00:30Z"]),
        Case("Europe/Berlin", "0 12 1 7 *", after: "9999-01-01T00:00Z", ["9999-07-01T10:00Z"]),
        Case("Africa/Cairo", "30 23 * * *", after: "2500-10-28T12:00Z", ["2500-10-28T20:30Z", "2500-10-29T21:30Z"]),
        Case("Australia/Sydney", "30 2 * 10 */7", after: "8888-10-02T00:00Z", ["8888-10-02T16:00Z"]),
        Case("Pacific/Apia", "0 0 1 1 *", after: "9998-06-01T00:00Z", ["9998-12-31T11:00Z"]),
    ])
    func `a rule goes on for ever`(test: Case) throws { try check(test) }

    @Test func `the year 9999 ends in UTC`() throws {
        let yearly = try CronSchedule("0 0 1 1 *")
        let kiritimati = try ZoneFiles.zone("Pacific/Kiritimati")
        #expect(try yearly.fires(after: "9999-01-02T00:00Z", in: kiritimati, count: 2) == ["9999-12-31T10:00Z"])
        #expect(try yearly.fires(after: "9999-01-02T00:00Z", in: ZoneFiles.zone("America/New_York"), count: 2) == [])
    }
}
