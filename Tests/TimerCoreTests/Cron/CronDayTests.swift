import Testing

@testable import TimerCore

/// The days and times that an expression names, in UTC.
struct CronDayTests {
    @Test(
        arguments: [
            ("* * * * *", ["2026-01-01T00:01Z", "2026-01-01T00:02Z"]),
            ("*/20 */12 * * *", ["2026-01-01T00:20Z", "2026-01-01T00:40Z", "2026-01-01T12:00Z"]),
            ("*/30 * * * * *", ["2026-01-01T00:00:30Z", "2026-01-01T00:01Z"]),
            ("59 59 23 31 12 *", ["2026-12-31T23:59:59Z", "2027-12-31T23:59:59Z"]),
            ("0 0 31 * *", ["2026-01-31T00:00Z", "2026-03-31T00:00Z", "2026-05-31T00:00Z"]),
            ("0 0 L * *", ["2026-01-31T00:00Z", "2026-02-28T00:00Z", "2026-03-31T00:00Z"]),
            ("0 0 L 2 *", ["2026-02-28T00:00Z", "2027-02-28T00:00Z", "2028-02-29T00:00Z"]),
            ("0 0 L-3 * *", ["2026-01-28T00:00Z", "2026-02-25T00:00Z"]),
            ("0 0 L-30 * *", ["2026-03-01T00:00Z", "2026-05-01T00:00Z"]),
            // 31 January 2026 is a Saturday, 28 February too, 31 May a Sunday.
            ("0 0 LW * *", ["2026-01-30T00:00Z", "2026-02-27T00:00Z", "2026-03-31T00:00Z", "2026-04-30T00:00Z"]),
            ("0 0 LW 5 *", ["2026-05-29T00:00Z"]),
            // 15 February and March 2026 are Sundays, 15 August a Saturday.
            ("0 0 15W 2,3,8 *", ["2026-02-16T00:00Z", "2026-03-16T00:00Z", "2026-08-14T00:00Z"]),
            // 1 August 2026 is a Saturday: Monday the third, not July. 31 May is a Sunday: Friday the 29th, not June.
            ("0 0 1W 8 *", ["2026-08-03T00:00Z"]), ("0 0 31W 5 *", ["2026-05-29T00:00Z"]),
            ("0 0 1W 2 *", ["2026-02-02T00:00Z"]),
            // A month without that day is skipped.
            ("0 0 31W * *", ["2026-01-30T00:00Z", "2026-03-31T00:00Z", "2026-05-29T00:00Z"]),
            ("0 0 * * MON#2", ["2026-01-12T00:00Z", "2026-02-09T00:00Z", "2026-03-09T00:00Z"]),
            ("0 0 * * 0#5", ["2026-03-29T00:00Z", "2026-05-31T00:00Z"]),
            ("0 0 * * 7#1,7#1", ["2026-01-04T00:00Z", "2026-02-01T00:00Z"]),
            ("0 0 * * FRIL", ["2026-01-30T00:00Z", "2026-02-27T00:00Z", "2026-03-27T00:00Z"]),
            ("0 0 * * 0L", ["2026-01-25T00:00Z", "2026-02-22T00:00Z"]),
            ("0 0 1,L * *", ["2026-01-31T00:00Z", "2026-02-01T00:00Z", "2026-02-28T00:00Z"]),
            ("0 0 * * 1/2", ["2026-01-02T00:00Z", "2026-01-04T00:00Z", "2026-01-05T00:00Z"]),
            ("@yearly", ["2027-01-01T00:00Z", "2028-01-01T00:00Z"]), ("@weekly", ["2026-01-04T00:00Z"]),
            ("0 0 29 2 *", ["2028-02-29T00:00Z", "2032-02-29T00:00Z"]),
        ])
    func `an expression names its instants`(text: String, expected: [String]) throws {
        #expect(try CronSchedule(text).fires(after: "2026-01-01T00:00Z", count: expected.count) == expected)
    }

    @Test(
        arguments: [
            // Either of two restricted day fields is enough. 13 February and March 2026 are Fridays.
            ("0 0 13 * FRI", ["2026-01-02T00:00Z", "2026-01-09T00:00Z", "2026-01-13T00:00Z", "2026-01-16T00:00Z"]),
            ("0 0 13 * ?", ["2026-01-13T00:00Z", "2026-02-13T00:00Z"]),
            // A field that begins with a star restricts nothing by itself, so both must match.
            ("0 0 13 * */5", ["2026-02-13T00:00Z", "2026-03-13T00:00Z", "2026-09-13T00:00Z"]),
            ("0 0 */12 * FRI", ["2026-02-13T00:00Z", "2026-03-13T00:00Z", "2026-05-01T00:00Z"]),
            ("0 0 */12,2 * FRI", ["2026-01-02T00:00Z", "2026-02-13T00:00Z"]),
            ("0 0 2,*/12 * FRI", ["2026-01-02T00:00Z", "2026-01-09T00:00Z", "2026-01-13T00:00Z"]),
            ("0 0 L * MON#1", ["2026-01-05T00:00Z", "2026-01-31T00:00Z", "2026-02-02T00:00Z"]),
        ])
    func `two day fields are one of the two, or both`(text: String, expected: [String]) throws {
        #expect(try CronSchedule(text).fires(after: "2026-01-01T00:00Z", count: expected.count) == expected)
    }

    @Test(arguments: [-1500, -1000, -999, -1, 0, 1, 999, 1000, 59_999] as [Int64])
    func `next is after, in whole seconds`(instant: Int64) throws {
        let expected = (instant >= 0 ? instant / 1000 : -((-instant + 999) / 1000)) * 1000 + 1000
        #expect(try CronSchedule("* * * * * *").next(after: instant, in: .utc) == expected)
    }

    @Test(arguments: [0: 0, 1: 60_000, 60_000: 60_000, 60_001: 120_000, -5: 0] as [Int64: Int64])
    func `nothing comes before from`(from: Int64, first: Int64) throws {
        let schedule = try CronSchedule("* * * * *", from: from)
        #expect(schedule.next(after: -60_000, in: .utc) == first)
        #expect(schedule.latest(after: -60_000, through: first, in: .utc)?.count == 1)
        #expect(schedule.latest(after: -60_000, through: first - 1, in: .utc) == nil)
    }

    @Test func `nothing comes after the year 9999, nor before the year 0`() throws {
        let schedule = try CronSchedule("* * * * * *")
        let end: Int64 = 253_402_300_799_000
        #expect(schedule.next(after: end - 1, in: .utc) == end)
        #expect(schedule.next(after: end, in: .utc) == nil)
        #expect(schedule.next(after: .max, in: .utc) == nil)
        #expect(schedule.next(after: .min, in: .utc) == -62_167_219_200_000)
        #expect(try CronSchedule("* * * * *", from: .max).next(after: 0, in: .utc) == nil)
        #expect(schedule.latest(after: .min, through: .max, in: .utc)?.instant == end)
        #expect(schedule.latest(after: .min, through: .max, in: .utc)?.count == end / 1000 + 62_167_219_200 + 1)
    }

    @Test func `every day of 400 years has its weekday and its length`() throws {
        let daily = try CronSchedule("0 0 * * *")
        let start: Int64 = 946_684_800_000
        let end = start + 146_097 * 86_400_000
        #expect(daily.latest(after: start - 1, through: end - 1, in: .utc)?.count == 146_097)
        // 688 of 4800 months have a Friday the 13th, and 687 a Sunday.
        let both = try CronSchedule("0 0 13 * */5")
        let sundays = try CronSchedule("0 0 13 * */7")
        #expect(both.latest(after: start - 1, through: end - 1, in: .utc)?.count == 1375)
        #expect(sundays.latest(after: start - 1, through: end - 1, in: .utc)?.count == 687)
        #expect(try CronSchedule("0 0 29 2 *").latest(after: start - 1, through: end - 1, in: .utc)?.count == 97)
    }
}
