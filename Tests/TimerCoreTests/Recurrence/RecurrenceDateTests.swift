import TestSupport
import Testing

@testable import TimerCore

/// Dates that are added and taken away.
struct RecurrenceDateTests {
    private static let days = ["2026-01-01T09:00Z", "2026-01-02T09:00Z", "2026-01-03T09:00Z"]

    @Test(arguments: [
        // Added, also before the start; one that the rule has too is due once.
        (
            ["2025-12-24T12:00Z", "2026-01-02T09:00Z", "2026-01-02T12:00Z", "2026-01-02T12:00Z"], [],
            ["2025-12-24T12:00Z", "2026-01-01T09:00Z", "2026-01-02T09:00Z", "2026-01-02T12:00Z", "2026-01-03T09:00Z"]
        ),
        // Taken away, which the count does not follow; one that is nothing's is ignored.
        ([], ["2026-01-02T09:00Z", "2026-01-02T09:01Z"], ["2026-01-01T09:00Z", "2026-01-03T09:00Z"]),
        ([], ["2026-01-01T09:00Z"], ["2026-01-02T09:00Z", "2026-01-03T09:00Z"]),
        ([], ["2026-01-02T09:00Z", "2026-01-03T09:00Z"], ["2026-01-01T09:00Z"]),
        ([], days, []),
        // Taken away though added.
        (
            ["2026-01-05T09:00Z"], ["2026-01-03T09:00Z", "2026-01-05T09:00Z"],
            ["2026-01-01T09:00Z", "2026-01-02T09:00Z"]
        ),
        // Added where the rule would go on.
        (["2026-01-04T09:00Z"], days, ["2026-01-04T09:00Z"]),
    ])
    func `dates are added and taken away`(added: [String], taken: [String], expected: [String]) throws {
        let schedule = try RecurrenceSchedule(
            "FREQ=DAILY;COUNT=3", from: "2026-01-01T09:00Z", rdates: added, exdates: taken)
        #expect(try schedule.fires(count: 10) == expected)
        let all = schedule.latest(after: .min, through: .max, in: .utc)
        #expect(all.map { ZoneFiles.text($0.instant) } == expected.last)
        #expect(all?.count ?? 0 == Int64(expected.count))
    }

    @Test func `a date keeps its milliseconds`() throws {
        let schedule = try RecurrenceSchedule(
            Array("FREQ=DAILY;COUNT=1".utf8), zone: Array("UTC".utf8), from: 0, rdates: [250], exdates: [1])
        #expect(schedule.fires(after: -1, in: .utc, count: 3) == [0, 250])
        let latest = schedule.latest(after: 0, through: 250, in: .utc)
        #expect(latest?.instant == 250 && latest?.count == 1)
        #expect(schedule.latest(after: 0, through: 249, in: .utc) == nil)
    }

    @Test(arguments: [1000: true, 1001: false])
    func `there are so many dates at most`(number: Int64, taken: Bool) throws {
        // Twice the same is one.
        let dates = (1...number).map { $0 * 1000 } + [1000]
        func make(_ rdates: [Int64], _ exdates: [Int64]) -> RecurrenceSchedule? {
            try? RecurrenceSchedule(
                Array("FREQ=DAILY".utf8), zone: Array("UTC".utf8), from: 0, rdates: rdates, exdates: exdates)
        }
        #expect((make(dates.reversed(), []) != nil) == taken)
        #expect((make([], dates) != nil) == taken)
        if taken { #expect(make(dates, [])?.rdates == (1...number).map { $0 * 1000 }) }
    }

    @Test func `a thousand days in a row can be taken away`() throws {
        let days = (0..<1000).map { $0 * 86_400_000 as Int64 }
        let schedule = try RecurrenceSchedule(
            Array("FREQ=DAILY".utf8), zone: Array("UTC".utf8), from: 0, exdates: days)
        #expect(schedule.next(after: -1, in: .utc) == 86_400_000_000)
        #expect(schedule.latest(after: -1, through: 86_399_999_999, in: .utc) == nil)
        let latest = schedule.latest(after: -1, through: 86_400_000_000, in: .utc)
        #expect(latest?.instant == 86_400_000_000 && latest?.count == 1)
    }
}
