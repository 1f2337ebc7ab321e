import Testing

@testable import TimerCore

/// Timers that count working time. The office is open from Monday to Friday, 09:00 to 17:00; 2026-11-20 is a Friday.
struct WorkingTimeTests {
    private static let hour: Int64 = 3_600_000

    private static func working(
        _ schedule: Schedule, _ edit: (inout TimerRules) -> Void = { _ in }
    ) throws -> TimerRules {
        let calendar = try Bench.office()
        return rules(schedule) {
            $0.clock = .working
            $0.calendar = calendar
            edit(&$0)
        }
    }

    @Test func `only open time counts`() throws {
        let bench = try Bench(officeAt: "2026-11-20T15:00Z")
        try bench.create(try Self.working(.after(4 * Self.hour)))
        #expect(try bench.nextFire() == "2026-11-23T11:00Z")
        #expect(try bench.hoursLeft() == 4)
        #expect(try bench.fires(through: "2026-11-23T12:00Z") == ["2026-11-23T11:00Z"])
        #expect(bench.effects.allSatisfy { $0.fire?.latenessUs ?? 0 == 0 })
        #expect(try bench.progress().state == .completed)
    }

    @Test func `a receiver can't put working time off by days`() throws {
        let bench = try Bench(officeAt: "2026-11-20T15:00Z")
        try bench.create(try Self.working(.after(Self.hour)) { $0.restartable = true })
        for state in [TimerState.running, .completed] {
            if state == .completed { #expect(try bench.fires(through: "2026-11-20T16:00Z").count == 1) }
            #expect(try bench.progress().state == state)
            var effects: [Effect] = []
            #expect(throws: TimerRefusal.self) {
                try bench.scheduler.putOff(try bench.slot(), by: 24 * Self.hour, inDays: true, bench.now, &effects)
            }
            #expect(try bench.progress().state == state && effects.isEmpty)
        }
        var effects: [Effect] = []
        try bench.scheduler.putOff(try bench.slot(), by: 24 * Self.hour, bench.now, &effects)
        #expect(try bench.hoursLeft() == 24)
    }

    @Test func `time that is used up at a closing is due there`() throws {
        let bench = try Bench(officeAt: "2026-11-20T15:00Z")
        try bench.create(try Self.working(.after(2 * Self.hour)))
        #expect(try bench.nextFire() == "2026-11-20T17:00Z")
        try bench.create(try Self.working(.after(0)), id: "none")
        #expect(try bench.nextFire("none") == "2026-11-20T15:00Z")
    }

    @Test func `suspend keeps the working time that is left`() throws {
        let bench = try Bench(officeAt: "2026-11-20T15:00Z")
        try bench.create(try Self.working(.after(4 * Self.hour)))
        bench.advance(Self.hour)
        try bench.apply(.suspend)
        #expect(try bench.progress().due == 3 * Self.hour * 1000)
        // Resumed on Saturday: nothing counts before Monday.
        bench.advance(20 * Self.hour)
        try bench.apply(.resume)
        #expect(try bench.nextFire() == "2026-11-23T12:00Z")
        #expect(try bench.hoursLeft() == 3)
    }

    @Test func `a part of a millisecond neither makes a resumed fire early nor adds up`() throws {
        let bench = try Bench(officeAt: "2026-11-20T10:00Z")
        try bench.create(try Self.working(.after(Self.hour)))
        for _ in 0..<3 {
            bench.pass(0, nanoseconds: 300_300)
            try bench.apply(.suspend)
            try bench.apply(.resume)
        }
        let due = try bench.progress().due - ZoneFiles.instant("2026-11-20T11:00Z")
        #expect((0...3).contains(due))
    }

    @Test func `a repeating timer counts its period in working time`() throws {
        let bench = try Bench(officeAt: "2026-11-20T09:00Z")
        try bench.create(try Self.working(.every(6 * Self.hour, first: .period)))
        let expected = ["2026-11-20T15:00Z", "2026-11-23T13:00Z", "2026-11-24T11:00Z", "2026-11-24T17:00Z"]
        #expect(try bench.fires(through: "2026-11-24T18:00Z") == expected)
    }

    @Test func `missed instants are counted in working time`() throws {
        let bench = try Bench(officeAt: "2026-11-20T09:00Z")
        try bench.create(try Self.working(.every(2 * Self.hour, first: .period)))
        try bench.create(try Self.working(.every(2 * Self.hour, first: .period)) { $0.misfire = .all }, id: "all")
        // Down from Friday 09:00 to Monday 12:00: 11:00, 13:00, 15:00, 17:00, and 11:00.
        bench.stall(75 * Self.hour)
        let fires = bench.effects.filter { $0.fire != nil }
        #expect(fires.first { $0.fire?.missed == 4 }?.fire?.scheduledAt == (try ZoneFiles.instant("2026-11-23T11:00Z")))
        var count = fires.count - 1
        while try bench.progress("all").due < bench.now.wall { count += bench.advance(1).count }
        #expect(count == 5)
        #expect(try bench.nextFire() == "2026-11-23T13:00Z")
        #expect(try bench.nextFire("all") == "2026-11-23T13:00Z")
    }

    @Test func `fixed delay counts from the fire`() throws {
        let bench = try Bench(officeAt: "2026-11-20T16:00Z")
        try bench.create(try Self.working(.every(2 * Self.hour, first: .after(Self.hour))) { $0.mode = .fixedDelay })
        bench.stall(65 * Self.hour)
        // Due on Friday at 17:00, and fired on Monday at 09:00.
        #expect(try bench.nextFire() == "2026-11-23T11:00Z")
    }

    @Test func `reschedule goes by working time, and in closed time means the next opening`() throws {
        let bench = try Bench(officeAt: "2026-11-20T15:00Z")
        try bench.create(try Self.working(.after(4 * Self.hour)))
        try bench.apply(.reschedule, .after(5 * Self.hour))
        #expect(try bench.nextFire() == "2026-11-23T12:00Z")
        try bench.apply(.reschedule, .at(try ZoneFiles.instant("2026-11-22T12:00Z")))
        #expect(try bench.nextFire() == "2026-11-23T09:00Z")
        #expect(
            throws: TimerRefusal.invalidSchedule(pointer: "/after", reason: "working time has no days: write hours")
        ) {
            try bench.apply(.reschedule, .after(24 * Self.hour, inDays: true))
        }
    }

    @Test func `a change of the calendar alone counts on, and one of the time begins anew`() throws {
        let bench = try Bench(officeAt: "2026-11-20T15:00Z")
        try bench.open(["sat": ["12:00-20:00"]], name: "shop")
        try bench.create(try Self.working(.after(4 * Self.hour)))
        bench.advance(Self.hour)
        let shop = try Bench.name("shop")
        #expect(try bench.amend { $0.calendar?.name = shop } == ["rescheduled"])
        #expect(try bench.nextFire() == "2026-11-21T15:00Z")
        try bench.amend { $0.schedule = .after(5 * Self.hour) }
        #expect(try bench.nextFire() == "2026-11-21T17:00Z")
        #expect(bench.scheduler.timers(by: shop) == 1)
        #expect(bench.scheduler.timers(by: try Bench.name("office")) == 0)
    }

    @Test func `the calendar of a timer must be there, and a deleted one starts nothing`() throws {
        let bench = try Bench(officeAt: "2026-11-20T15:00Z")
        let name = try Bench.name("nowhere")
        #expect(throws: TimerRefusal.invalidSchedule(pointer: "/calendar", reason: "there is no calendar `nowhere`")) {
            try bench.create(try Self.working(.after(1)) { $0.calendar?.name = name })
        }
        try bench.create(try Self.working(.after(1)) { $0.restartable = true })
        try bench.apply(.cancel)
        #expect(bench.scheduler.timers(by: try Bench.name("office")) == 0)
        bench.scheduler.removeCalendar(try Bench.name("office"))
        #expect(throws: TimerRefusal.missingCalendar(state: .cancelled, restartable: true)) {
            try bench.apply(.activate)
        }
    }

    @Test func `the previews are the instants that fire`() throws {
        let bench = try Bench(officeAt: "2026-11-20T09:00Z")
        let rules = try Self.working(.every(6 * Self.hour, first: .period))
        let preview = try bench.scheduler.preview(rules, bench.now, count: 4).all().map { ZoneFiles.text($0) }
        try bench.create(rules)
        #expect(
            bench.scheduler.upcoming(try bench.slot(), bench.now, count: 4).all().map { ZoneFiles.text($0) } == preview)
        #expect(try bench.fires(through: "2026-11-24T18:00Z") == preview)
    }
}
