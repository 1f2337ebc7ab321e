import Testing

@testable import TimerCore

/// Timers whose instants a calendar drops or moves. The office is open from Monday to Friday, 09:00 to 17:00;
/// 2026-11-20 is a Friday.
struct ShapedTimerTests {
    private static func shaped(
        _ schedule: Schedule, _ policy: ClosedPolicy, _ edit: (inout TimerRules) -> Void = { _ in }
    ) throws -> TimerRules {
        let calendar = try Bench.office(policy)
        return rules(schedule) {
            $0.calendar = calendar
            edit(&$0)
        }
    }

    private static func cron(_ text: String, _ policy: ClosedPolicy) throws -> TimerRules {
        try shaped(.cron(try CronSchedule(text)), policy)
    }

    @Test(arguments: [
        (ClosedPolicy.skip, ["2026-11-20T10:00Z", "2026-11-23T10:00Z"]),
        (.next, ["2026-11-20T10:00Z", "2026-11-23T09:00Z", "2026-11-23T10:00Z"]),
        (.nextDay, ["2026-11-20T10:00Z", "2026-11-23T10:00Z"]),
        (.previousDay, ["2026-11-20T10:00Z", "2026-11-23T10:00Z"]),
    ])
    func `instants in closed time are dropped or moved, and those that meet are one`(
        _ policy: ClosedPolicy, expected: [String]
    ) throws {
        let bench = try Bench(officeAt: "2026-11-20T09:30Z")
        try bench.create(try Self.cron("0 10 * * *", policy))
        #expect(try bench.fires(through: "2026-11-23T12:00Z") == expected)
        #expect(try bench.progress().missedCount == 0)
    }

    @Test func `a recurrence and grids go by the calendar, too`() throws {
        let bench = try Bench(officeAt: "2026-11-20T09:30Z")
        let start = try ZoneFiles.instant("2026-11-20T16:00Z")
        let rule = try RecurrenceSchedule(Array("FREQ=DAILY;COUNT=4".utf8), zone: Array("UTC".utf8), from: start)
        try bench.create(try Self.shaped(.recurrence(rule), .nextDay) { $0.retain = 10 * Schedule.day }, id: "rule")
        try bench.create(try Self.shaped(.every(Schedule.day, first: .at(start)), .nextDay), id: "grid")
        let zone = Array("Europe/Berlin".utf8)
        try bench.create(
            try Self.shaped(.every(Schedule.day, first: .local(start, zone: zone)), .nextDay), id: "local")
        let fires = try bench.advance(through: "2026-11-24T18:00Z").filter { $0.fire != nil }
        for id in ["rule", "grid", "local"] {
            let slot = try bench.slot(id)
            let own = fires.filter { $0.slot == slot }.compactMap(\.fire).map { ZoneFiles.text($0.scheduledAt) }
            let further = id == "rule" ? [] : ["2026-11-24T16:00Z"]
            #expect(own == ["2026-11-20T16:00Z", "2026-11-23T16:00Z"] + further)
        }
        // Four instants: Friday's, and three of which two are moved to the third.
        #expect(try bench.progress("rule").state == .completed)
    }

    @Test func `one instant is moved, and one that is moved into the past is refused`() throws {
        let bench = try Bench(officeAt: "2026-11-20T18:00Z")
        let sunday = Schedule.at(try ZoneFiles.instant("2026-11-22T12:00Z"))
        try bench.create(try Self.shaped(sunday, .next), id: "next")
        #expect(try bench.nextFire("next") == "2026-11-23T09:00Z")
        try bench.create(try Self.shaped(sunday, .nextDay), id: "nextDay")
        #expect(try bench.nextFire("nextDay") == "2026-11-23T12:00Z")
        let reason = "the calendar leaves no instant of the schedule up to the year 9999"
        #expect(throws: TimerRefusal.invalidSchedule(pointer: "/calendar", reason: reason)) {
            try bench.create(try Self.shaped(sunday, .previousDay), id: "previousDay")
        }
        let past = Schedule.at(try ZoneFiles.instant("2026-11-20T12:00Z"))
        try bench.create(try Self.shaped(past, .next), id: "past")
        #expect(try bench.nextFire("past") == "2026-11-20T12:00Z")
        #expect(try bench.fires(through: "2026-11-23T09:00Z").count == 2)
    }

    @Test func `payroll is due on the last working day before the 25th`() throws {
        let bench = try Bench(officeAt: "2026-06-01T00:00Z", week: ["mon-fri": ["00:00-24:00"]])
        try bench.create(try Self.cron("0 12 25 * *", .previousDay))
        let expected = ["2026-06-25T12:00Z", "2026-07-24T12:00Z", "2026-08-25T12:00Z", "2026-09-25T12:00Z"]
        #expect(try bench.fires(through: "2026-10-01T00:00Z") == expected)
    }

    @Test func `a watchdog with a calendar expects no kick in closed time`() throws {
        let bench = try Bench(officeAt: "2026-11-20T09:30Z")
        let rules = try Self.shaped(
            .expecting(.cron(try CronSchedule("0 12 * * *")), grace: 600_000), .skip)
        try bench.create(rules)
        bench.advance(3 * 3_600_000)
        #expect(try bench.progress().isAlarming)
        try bench.apply(.kick)
        // No kick is expected before Monday noon.
        #expect(try bench.fires(through: "2026-11-23T12:09Z") == [])
        #expect(try bench.advance(through: "2026-11-23T12:11Z").compactMap(\.fire).count == 1)
    }

    @Test func `a moved fire leaves the grid of a calendar where it is`() throws {
        let bench = try Bench(officeAt: "2026-11-20T09:30Z")
        let start = try ZoneFiles.instant("2026-11-20T10:00Z")
        try bench.create(try Self.shaped(.every(Schedule.day, first: .at(start)), .skip))
        try bench.apply(.reschedule, .after(7_200_000))
        #expect(try bench.fires(through: "2026-11-23T12:00Z") == ["2026-11-20T11:30Z", "2026-11-23T10:00Z"])
    }

    @Test func `fixed delay counts from the fire, and is moved`() throws {
        let bench = try Bench(officeAt: "2026-11-20T09:00Z")
        let start = try ZoneFiles.instant("2026-11-20T10:00Z")
        try bench.create(try Self.shaped(.every(Schedule.day, first: .at(start)), .next) { $0.mode = .fixedDelay })
        let expected = ["2026-11-20T10:00Z", "2026-11-23T09:00Z", "2026-11-24T09:00Z"]
        #expect(try bench.fires(through: "2026-11-24T12:00Z") == expected)
    }
}
