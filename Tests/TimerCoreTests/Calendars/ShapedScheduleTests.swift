import Synchronization
import TestSupport
import Testing

@testable import TimerCore

/// Nominal instants one by one.
private struct ListedInstants: NominalInstants {
    let instants: [Int64]

    func next(after instant: Int64) -> Int64? { instants.first { $0 > instant } }

    func latest(after start: Int64, through end: Int64) -> (instant: Int64, count: Int64)? {
        let found = instants.filter { $0 > start && $0 <= end }
        return found.last.map { ($0, Int64(found.count)) }
    }
}

/// Schedules whose instants in closed time are dropped or moved. Instants are in UTC.
struct ShapedScheduleTests {
    private func shaped(
        _ cron: String, _ policy: ClosedPolicy, _ hours: OpenHours, zone: TimeZoneTable? = nil
    ) throws -> ShapedSchedule<ScheduleInstants> {
        let zone = zone ?? hours.zone
        return ShapedSchedule(
            source: try #require(ScheduleInstants(.cron(try CronSchedule(cron)), in: zone)), hours: hours,
            policy: policy, zone: zone)
    }

    private func instants<Source>(
        _ schedule: ShapedSchedule<Source>, after start: Int64, count: Int = .max, through end: Int64 = .max
    ) -> [Int64] {
        var found: [Int64] = []
        while found.count < count, let next = schedule.next(after: found.last ?? start), next <= end {
            found.append(next)
        }
        return found
    }

    struct Case: CustomTestStringConvertible {
        let cron: String
        let policy: ClosedPolicy
        let after: String
        let expected: [String]

        var testDescription: String { "\(cron) \(policy) after \(after)" }
    }

    @Test(arguments: [
        // 2026-11-21 is a Saturday; Thursday, the 26th, is closed.
        Case(
            cron: "0 10 * * *", policy: .skip, after: "2026-11-20T09:00Z",
            expected: ["2026-11-20T10:00Z", "2026-11-23T10:00Z"]),
        Case(
            cron: "0 12 * * *", policy: .next, after: "2026-11-20T09:00Z",
            expected: ["2026-11-20T12:00Z", "2026-11-23T09:00Z", "2026-11-23T12:00Z"]),
        // An instant that was before the start is due at the opening after it.
        Case(
            cron: "0 3 * * SUN", policy: .next, after: "2026-11-22T12:00Z",
            expected: ["2026-11-23T09:00Z", "2026-11-30T09:00Z"]),
        Case(
            cron: "0 10 21,26 * *", policy: .nextDay, after: "2026-11-20T00:00Z",
            expected: ["2026-11-23T10:00Z", "2026-11-27T10:00Z", "2026-12-21T10:00Z", "2026-12-28T10:00Z"]),
        Case(
            cron: "0 10 21,26 * *", policy: .previousDay, after: "2026-11-20T00:00Z",
            expected: ["2026-11-20T10:00Z", "2026-11-25T10:00Z", "2026-12-21T10:00Z", "2026-12-25T10:00Z"]),
        // The last working day before the 25th, or that day.
        Case(
            cron: "0 9 25 * *", policy: .previousDay, after: "2026-04-01T00:00Z",
            expected: ["2026-04-24T09:00Z", "2026-05-25T09:00Z", "2026-06-25T09:00Z", "2026-07-24T09:00Z"]),
        // Moved instants are ordered as they are due: Saturday's comes before Friday's of 16:00.
        Case(
            cron: "0 10-16/6 * * FRI,SAT", policy: .previousDay, after: "2026-11-20T09:00Z",
            expected: ["2026-11-20T10:00Z", "2026-11-20T16:00Z", "2026-11-27T10:00Z"]),
        Case(
            cron: "0 11 * * SAT,SUN", policy: .nextDay, after: "2026-11-20T09:00Z",
            expected: ["2026-11-23T11:00Z", "2026-11-30T11:00Z"]),
        // At a time that is never open there is no day to move to.
        Case(cron: "0 20 * * MON", policy: .nextDay, after: "2026-11-20T09:00Z", expected: []),
        Case(cron: "0 20 * * MON", policy: .previousDay, after: "2026-11-20T09:00Z", expected: []),
        Case(cron: "0 20 * * MON", policy: .skip, after: "2026-11-20T09:00Z", expected: []),
        // Each second of Sundays: Monday from 09:00:00 on.
        Case(
            cron: "* * * * * SUN", policy: .nextDay, after: "2026-11-20T09:00Z",
            expected: ["2026-11-23T09:00Z", "2026-11-23T09:00:01Z"]),
        Case(
            cron: "* * * * * *", policy: .next, after: "2026-11-20T16:59:58Z",
            expected: ["2026-11-20T16:59:59Z", "2026-11-23T09:00Z", "2026-11-23T09:00:01Z"]),
    ])
    func `an instant in closed time goes by the policy`(test: Case) throws {
        let hours = try OpenHours(week: ["mon-fri": ["09:00-17:00"]], dates: ["2026-11-26": []])
        let schedule = try shaped(test.cron, test.policy, hours)
        let found = instants(schedule, after: try ZoneFiles.instant(test.after), count: max(test.expected.count, 1))
        #expect(found.map(ZoneFiles.text) == test.expected)
    }

    @Test(arguments: [
        (
            ClosedPolicy.previousDay, ["2026-11-20T16:00Z", "2026-11-21T10:00Z"],
            ["2026-11-20T10:00Z", "2026-11-20T16:00Z"]
        ),
        (.nextDay, ["2026-11-21T16:00Z", "2026-11-22T10:00Z"], ["2026-11-23T10:00Z", "2026-11-23T16:00Z"]),
        // An instant at the closing is due at the next opening.
        (
            .next, ["2026-11-20T12:00Z", "2026-11-20T13:00Z", "2026-11-20T17:00Z"],
            ["2026-11-20T12:00Z", "2026-11-20T13:00Z", "2026-11-23T09:00Z"]
        ),
    ])
    func `the order is that of the moved instants`(policy: ClosedPolicy, nominal: [String], expected: [String]) throws {
        let hours = try OpenHours(week: ["mon-fri": ["09:00-17:00"]])
        let source = ListedInstants(instants: try nominal.map(ZoneFiles.instant))
        let schedule = ShapedSchedule(source: source, hours: hours, policy: policy, zone: .utc)
        let start = try ZoneFiles.instant("2026-11-20T08:00Z")
        #expect(instants(schedule, after: start).map(ZoneFiles.text) == expected)
        let latest = schedule.latest(after: start, through: start + 10 * Schedule.day)
        #expect(latest.map { ZoneFiles.text($0.instant) } == expected.last)
        #expect(latest?.count == Int64(expected.count))
    }

    @Test(arguments: [
        (ClosedPolicy.next, 366, true), (.next, 367, false), (.nextDay, 366, true), (.nextDay, 367, false),
        (.previousDay, 366, true), (.previousDay, 367, false),
    ])
    func `an instant is moved by 366 days at the most`(policy: ClosedPolicy, days: Int64, isMoved: Bool) throws {
        // Open from 10:00 on all days before and after a run of closed ones; the instant is at 10:00.
        let day = try ZoneFiles.instant("2026-01-01T10:00Z")
        let first = Int64(20_454)
        let closed = policy == .previousDay ? first - days + 1...first : first...first + days - 1
        let week = Array(repeating: [CalendarDefinition.Interval(start: 36_000, end: 72_000)], count: 7)
        let dates = closed.map { CalendarDefinition.Date(day: $0, intervals: []) }
        let hours = OpenHours(CalendarDefinition(zone: [], week: week, dates: dates), in: .utc)
        let moved = day + (policy == .previousDay ? -days : days) * Schedule.day
        #expect(hours.moved(day, by: policy, in: .utc) == (isMoved ? moved : nil))
        #expect(hours.moved(day, by: .skip, in: .utc) == nil)
    }

    @Test func `the local time is that of the schedule's zone`() throws {
        // 09:30 in New York: 14:30Z in winter, 13:30Z in summer, which begins on Sunday, 8 March.
        let hours = try OpenHours(week: ["mon": ["13:00-14:00"], "fri": ["14:00-15:00"]])
        let newYork = try ZoneFiles.zone("America/New_York")
        let friday = try ZoneFiles.instant("2026-03-07T14:30Z")
        #expect(hours.moved(friday, by: .nextDay, in: newYork).map(ZoneFiles.text) == "2026-03-09T13:30Z")
        #expect(hours.moved(friday, by: .nextDay, in: .utc).map(ZoneFiles.text) == "2026-03-13T14:30Z")
    }

    @Test(arguments: ClosedPolicy.allCases)
    func `the first instant judges the moved ones`(policy: ClosedPolicy) throws {
        let hours = try OpenHours(week: ["mon-fri": ["09:00-17:00"]])
        var schedule = try shaped("0 12 * * *", policy, hours)
        let start = try ZoneFiles.instant("2026-11-20T00:00Z")
        let all = instants(schedule, after: start, count: 20)
        for (index, instant) in all.enumerated().dropFirst() {
            schedule.from = instant
            #expect(schedule.next(after: start) == instant)
            schedule.from = all[index - 1] + 1
            #expect(schedule.next(after: start) == instant)
        }
    }

    /// Moves all nominal instants that may come to a time one by one, and returns those that do.
    private func moved(
        _ schedule: ShapedSchedule<ScheduleInstants>, after start: Int64, through end: Int64
    ) -> [Int64] {
        var found: Set<Int64> = []
        var place = start - 370 * Schedule.day
        while let next = schedule.source.next(after: place), next < end + 370 * Schedule.day {
            if let moved = schedule.moved(next), moved > start, moved <= end { found.insert(moved) }
            place = next
        }
        return found.sorted()
    }

    /// Compares with all nominal instants of two years, moved one by one.
    @Test(arguments: ["Europe/Berlin", "Australia/Lord_Howe"], ClosedPolicy.allCases)
    func `the instants are the moved ones in their order`(name: String, policy: ClosedPolicy) throws {
        let zone = try ZoneFiles.zone(name)
        var random = SeededGenerator(seed: 38)
        let crons = ["0 10 * * *", "30 2 * * *", "0 9 25 * *", "15 */9 * * *", "*/30 1-3 * * SUN", "0 12 * * SAT,SUN"]
        for cron in crons {
            let day = random.number(20_000...21_000)
            let hours = OpenHours.random(&random, in: zone, near: day)
            let schedule = try shaped(cron, policy, hours)
            let start = day * Schedule.day
            let end = start + 40 * Schedule.day
            let expected = moved(schedule, after: start, through: end)
            #expect(instants(schedule, after: start, through: end) == expected)
            let latest = schedule.latest(after: start, through: end)
            #expect(latest?.instant == expected.last)
            #expect(latest?.count ?? 0 == Int64(expected.count))
            #expect(schedule.last(after: start, through: end) == expected.last)
        }
    }

    /// A date that alone is open at noon takes the instants of months, over which nothing opens.
    @Test(arguments: [ClosedPolicy.nextDay, .previousDay])
    func `instants are moved over months to a single date`(policy: ClosedPolicy) throws {
        let zone = try ZoneFiles.zone("Europe/Berlin")
        let definition = try CalendarDefinition(
            "Europe/Berlin", week: ["mon": ["09:00-10:00"]], dates: ["2027-03-03": ["12:00-13:00"]])
        let hours = OpenHours(definition, in: zone)
        let day = try ZoneFiles.instant("2027-03-03T00:00Z")
        for cron in ["15 */3 1 * *", "15 */3 * * *", "*/7 12 10-20 1,6 *"] {
            let schedule = try shaped(cron, policy, hours)
            let expected = moved(schedule, after: day, through: day + 3 * Schedule.day)
            #expect(!expected.isEmpty)
            #expect(instants(schedule, after: day, through: day + 3 * Schedule.day) == expected)
        }
    }

    /// Nominal instants that count how often they are asked for.
    private final class Asked: NominalInstants, Sendable {
        let instants: ScheduleInstants
        let looks = Atomic(0)

        init(_ instants: ScheduleInstants) { self.instants = instants }

        func next(after instant: Int64) -> Int64? {
            looks.add(1, ordering: .relaxed)
            return instants.next(after: instant)
        }

        func latest(after start: Int64, through end: Int64) -> (instant: Int64, count: Int64)? {
            looks.add(1, ordering: .relaxed)
            return instants.latest(after: start, through: end)
        }
    }

    @Test func `a search ends where hours are hardly ever open`() throws {
        let zone = try ZoneFiles.zone("UTC")
        let start = try ZoneFiles.instant("2026-11-01T00:00Z")
        let hours = try OpenHours(
            week: ["sun": ["00:00-00:01"]],
            dates: [
                "2026-11-01/2026-12-31": [], "2027-01-01": ["12:00-12:01", "13:00-13:30", "18:00-18:01"],
                "2027-01-02/2027-06-30": [], "2027-07-01": ["12:00-12:01", "13:00-13:30", "18:00-18:01"],
                "2027-07-02/2028-05-31": [], "2028-06-01": ["12:00-12:01", "13:00-13:30", "18:00-18:01"],
            ])
        let cron = try CronSchedule("* 13 2,8,9,28 * *")
        let asked = Asked(try #require(ScheduleInstants(.cron(cron), in: zone)))
        let schedule = ShapedSchedule(
            source: asked, hours: hours, policy: .nextDay, zone: zone)
        _ = schedule.last(after: start, through: start + 600 * Schedule.day)
        #expect(asked.looks.exchange(0, ordering: .relaxed) < 20_000)
        _ = schedule.latest(after: start, through: start + 600 * Schedule.day)
        #expect(asked.looks.exchange(0, ordering: .relaxed) < 60_000)
    }

    @Test func `what is too much to count is found all the same`() throws {
        let hours = try OpenHours(week: ["mon-fri": ["09:00-17:00"]])
        let start = try ZoneFiles.instant("2026-11-23T08:00Z")
        let end = try ZoneFiles.instant("2026-11-27T20:00Z")
        for policy in ClosedPolicy.allCases {
            let latest = try shaped("* * * * * MON-FRI", policy, hours).latest(after: start, through: end)
            #expect(latest.map { ZoneFiles.text($0.instant) } == "2026-11-27T16:59:59Z")
            #expect(latest?.count == Int64(5 * 8 * 3600))
        }
    }
}
