import Testing

@testable import TimerCore

/// Changes of calendars, and the timers that they plan again. The office is open from Monday to Friday, 09:00 to 17:00;
/// 2026-11-20 is a Friday.
struct ReplanTests {
    private static let hour: Int64 = 3_600_000

    private static func timer(
        _ schedule: Schedule, _ clock: TimerClock = .wall, _ policy: ClosedPolicy = .skip,
        _ edit: (inout TimerRules) -> Void = { _ in }
    ) throws -> TimerRules {
        let calendar = try Bench.office(policy)
        return rules(schedule) {
            $0.clock = clock
            $0.calendar = calendar
            edit(&$0)
        }
    }

    private static func cron(_ text: String, _ policy: ClosedPolicy = .skip) throws -> TimerRules {
        try timer(.cron(try CronSchedule(text)), .wall, policy)
    }

    @Test func `working time that has counted stays counted, and the rest counts by the new hours`() throws {
        let bench = try Bench(officeAt: "2026-11-20T15:00Z")
        try bench.create(try Self.timer(.after(4 * Self.hour), .working))
        bench.advance(Self.hour)
        try bench.open(["mon-fri": ["09:00-17:00"], "sat": ["10:00-12:00"]])
        #expect(bench.advance() == ["rescheduled"])
        #expect(bench.effects.first?.reason == .calendar)
        // One hour on Friday is left, and two on Saturday.
        #expect(try bench.nextFire() == "2026-11-21T12:00Z")
        #expect(try bench.fires(through: "2026-11-21T13:00Z") == ["2026-11-21T12:00Z"])
    }

    @Test func `a timer that does not move has no event`() throws {
        let bench = try Bench(officeAt: "2026-11-20T15:00Z")
        try bench.create(try Self.timer(.after(Self.hour), .working))
        try bench.open(["mon-fri": ["09:00-17:00"], "sat": ["10:00-12:00"]])
        let version = try bench.progress().version
        #expect(bench.advance() == [])
        #expect(try bench.progress().version == version)
        #expect(try bench.progress().edition == 1)
        #expect(bench.scheduler.calendars[try Bench.name("office")]?.past == [])
    }

    @Test func `a suspended timer keeps its working time, without an event`() throws {
        let bench = try Bench(officeAt: "2026-11-20T15:00Z")
        try bench.create(try Self.timer(.after(4 * Self.hour), .working))
        try bench.apply(.suspend)
        try bench.open(["sat": ["10:00-20:00"]])
        #expect(bench.advance() == [])
        try bench.apply(.resume)
        #expect(try bench.nextFire() == "2026-11-21T14:00Z")
    }

    @Test func `several changes count one after the other`() throws {
        let bench = try Bench(officeAt: "2026-11-20T13:00Z")
        try bench.create(try Self.timer(.after(4 * Self.hour), .working))
        bench.pass(Self.hour)
        try bench.open(["sat": ["10:00-20:00"]])
        bench.pass(22 * Self.hour)
        try bench.open(["sat": ["00:00-11:00"], "sun": ["08:00-20:00"]])
        // One hour on Friday, two on Saturday: one until 11:00, when the calendar changed an hour before that.
        bench.advance()
        #expect(try bench.nextFire() == "2026-11-22T09:00Z")
    }

    @Test func `a change is in force before the timers are looked at`() throws {
        let bench = try Bench(officeAt: "2026-11-20T15:00Z")
        for number in 0..<5 { try bench.create(try Self.timer(.after(Self.hour), .working), id: "t\(number)") }
        bench.pass(Self.hour / 2)
        try bench.open(["sat": ["10:00-20:00"]])
        bench.pass(Self.hour)
        // All are due by the old hours, and are looked at one at a time: none fires.
        var lines: [String] = []
        var effects: [Effect] = []
        while !bench.scheduler.advance(to: bench.now, limit: 1, &effects) { bench.scheduler.finishStep() }
        lines = effects.map(Bench.line)
        #expect(lines == [String](repeating: "rescheduled", count: 5))
        #expect(try bench.nextFire("t4") == "2026-11-21T10:30Z")
    }

    @Test func `a timer is shown by the new hours before it is looked at`() throws {
        let bench = try Bench(officeAt: "2026-11-20T15:00Z")
        try bench.create(try Self.timer(.after(4 * Self.hour), .working))
        bench.pass(Self.hour)
        try bench.open(["sat": ["10:00-20:00"]])
        let slot = try bench.slot()
        #expect(ZoneFiles.text(bench.scheduler.presentProgress(slot).due) == "2026-11-21T13:00Z")
        let next = bench.scheduler.upcoming(slot, bench.now, count: 1).all()
        #expect(next.map { ZoneFiles.text($0) } == ["2026-11-21T13:00Z"])
    }

    @Test func `working time that no hours are left for is not lost`() throws {
        let bench = try Bench(officeAt: "2026-11-20T15:00Z")
        try bench.create(try Self.timer(.after(200 * Self.hour), .working))
        try bench.create(try Self.timer(.after(200 * Self.hour), .working), id: "paused")
        let due = try bench.nextFire()
        // A second a week is open: a hundred hours and some up to the year 9999.
        let never: Days = ["mon": ["00:00:00-00:00:01"]]
        try bench.open(never)
        #expect(bench.advance() == ["rescheduled", "rescheduled"])
        #expect(try bench.nextFire() == "none")
        try bench.apply(.suspend, id: "paused")
        try bench.apply(.resume, id: "paused")
        #expect(try bench.nextFire("paused") == "none")
        try bench.open(["mon-fri": ["09:00-17:00"]])
        bench.advance()
        #expect(try bench.nextFire() == due)
        #expect(try bench.nextFire("paused") == due)
        try bench.open(never)
        try bench.apply(.reschedule, .after(300 * Self.hour))
        try bench.open(["mon-sun": ["00:00-24:00"]])
        bench.advance()
        #expect(try bench.nextFire() == "2026-12-03T03:00Z")
    }

    @Test func `a change counts that comes after one that came too late`() throws {
        let bench = try Bench(officeAt: "2026-11-20T15:00Z")
        try bench.create(try Self.timer(.every(Self.hour, first: .period), .working) { $0.onResume = .skip })
        try bench.apply(.suspend)
        bench.pass(2 * Self.hour)
        try bench.open(["mon-fri": ["09:00-17:00"], "sat": ["08:00-09:00"]])
        bench.stepWall(-2 * Self.hour)
        try bench.open(["mon-fri": ["09:00-15:30"], "sat": ["10:00-12:00"]])
        // The timer was due at 16:00, before the first change and after the second one.
        #expect(ZoneFiles.text(bench.scheduler.presentProgress(try bench.slot()).due) == "2026-11-21T10:30Z")
    }

    @Test func `a change far away loses no fire of a fixed delay`() throws {
        let bench = try Bench(officeAt: "2026-11-20T09:00Z", week: ["mon-sun": ["09:00-17:00"]])
        let start = try ZoneFiles.instant("2026-11-20T10:00Z")
        try bench.create(try Self.timer(.every(Schedule.day, first: .at(start))) { $0.mode = .fixedDelay })
        bench.advance(Self.hour, nanoseconds: 300_000)
        let due = try bench.progress().due
        #expect(due == start + Schedule.day + 1)
        try bench.open(["mon-sun": ["09:00-17:00"]], dates: ["2040-01-01": []])
        #expect(bench.advance() == [])
        #expect(try bench.progress().due == due)
        try bench.open(["mon-fri": ["09:00-17:00"]])
        bench.advance()
        #expect(try bench.nextFire() == "2026-11-23T10:00Z")
        // Another start, and a fire by hand: the instant that was planned stays.
        let later = try ZoneFiles.instant("2026-12-14T10:00Z")
        try bench.amend { $0.schedule = .every(Schedule.day, first: .at(later)) }
        try bench.apply(.fire)
        try bench.open(["mon-fri": ["09:00-17:00"]], dates: ["2040-01-01": []])
        #expect(bench.advance() == [])
        #expect(try bench.nextFire() == "2026-12-14T10:00Z")
    }

    @Test func `of many instants that move into the past one fires`() throws {
        let bench = try Bench(officeAt: "2026-11-21T10:00Z", week: ["mon": ["09:00-17:00"]])
        try bench.create(try Self.cron("0 12 * * *", .next))
        bench.advance(28 * Self.hour)
        try bench.open(["mon-sun": ["00:00-24:00"]])
        bench.advance()
        #expect(bench.effects.compactMap(\.fire).map { ZoneFiles.text($0.scheduledAt) } == ["2026-11-22T12:00Z"])
        #expect(try bench.nextFire() == "2026-11-23T12:00Z")
    }

    @Test func `a watchdog awaits as many instants as were left`() throws {
        let bench = try Bench(officeAt: "2026-11-16T09:00Z")
        let rules = try Self.timer(.expecting(.cron(try CronSchedule("0 12 * * *")), grace: 60_000), .suspending) {
            $0.misses = 3
        }
        try bench.create(rules)
        // Monday's and Tuesday's kicks do not come.
        bench.advance(2 * Schedule.day)
        #expect(try bench.nextFire() == "2026-11-18T12:01Z")
        try bench.open(["mon-fri": ["08:00-17:00"]])
        bench.advance()
        #expect(try bench.nextFire() == "2026-11-18T12:01Z")
        try bench.open(["thu-fri": ["08:00-17:00"]])
        bench.advance()
        #expect(try bench.nextFire() == "2026-11-19T12:01Z")
    }

    @Test func `an early kick counts over a change`() throws {
        let bench = try Bench(officeAt: "2026-11-16T09:00Z")
        try bench.create(
            try Self.timer(.expecting(.cron(try CronSchedule("0 12 * * *")), grace: 60_000), .suspending))
        bench.advance(3 * Self.hour - 30_000)
        try bench.apply(.kick)
        try bench.open(["mon-fri": ["08:00-17:00"]])
        bench.advance()
        #expect(try bench.nextFire() == "2026-11-17T12:01Z")
    }

    @Test func `many instants that have fired stay so`() throws {
        let bench = try Bench(officeAt: "2026-11-16T14:00Z")
        try bench.create(try Self.cron("* 9-17 * * MON", .nextDay))
        bench.advance(Self.hour + 30_000)
        #expect(try bench.nextFire() == "2026-11-16T15:01Z")
        try bench.open(["tue-fri": ["09:00-17:00"]])
        bench.advance()
        #expect(try bench.nextFire() == "2026-11-17T15:01Z")
    }

    @Test func `an instant that passed while the server was down is missed, also by new hours`() throws {
        let bench = try Bench(officeAt: "2026-11-16T09:00Z")
        try bench.create(try Self.timer(.after(4 * Self.hour), .working) { $0.misfire = .skip })
        try bench.open(["mon-fri": ["08:00-17:00"], "sat": ["10:00-12:00"]])
        bench.pass(Self.hour)
        try bench.open(["mon-fri": ["10:00-10:30", "11:00-17:00"]])
        bench.down(6 * Self.hour)
        bench.restart()
        bench.scheduler.noteLoopStall(until: bench.now)
        #expect(bench.advance() == ["rescheduled", "completed"])
        #expect(try bench.progress().missedCount == 1)
    }

    @Test func `a suspended timer that keeps its instant is planned by the new hours, and by a new calendar`() throws {
        let bench = try Bench(officeAt: "2026-11-20T15:00Z")
        try bench.open(["sun": ["10:00-20:00"]], name: "shop")
        try bench.create(try Self.timer(.after(4 * Self.hour), .working) { $0.onResume = .deadline })
        try bench.apply(.suspend)
        try bench.open(["sat": ["10:00-20:00"]])
        #expect(bench.advance() == ["untold"])
        #expect(ZoneFiles.text(try bench.progress().due) == "2026-11-21T14:00Z")
        let shop = try Bench.name("shop")
        try bench.amend { $0.calendar?.name = shop }
        #expect(ZoneFiles.text(try bench.progress().due) == "2026-11-22T14:00Z")
    }

    @Test func `a timer that is moved after its end shows no fire`() throws {
        let bench = try Bench(officeAt: "2026-11-20T15:00Z")
        let until = try ZoneFiles.instant("2026-11-21T00:00Z")
        try bench.create(try Self.timer(.after(Self.hour), .working) { $0.until = until })
        try bench.open(["sat": ["10:00-20:00"]])
        #expect(bench.advance() == ["rescheduled"])
        #expect(bench.effects.first?.nextFireAt == nil)
        #expect(try bench.nextFire() == "none")
    }

    @Test func `a command finds the timer planned by the new hours`() throws {
        let bench = try Bench(officeAt: "2026-11-20T15:00Z")
        try bench.create(try Self.timer(.after(4 * Self.hour), .working))
        bench.pass(Self.hour)
        try bench.open(["sat": ["10:00-20:00"]])
        #expect(try bench.apply(.suspend) == ["suspended"])
        #expect(try bench.progress().due == 3 * Self.hour * 1000)
        #expect(try bench.apply(.resume) == ["resumed"])
        #expect(try bench.nextFire() == "2026-11-21T13:00Z")
        #expect(bench.advance() == [])
    }

    @Test func `a restart in the middle of a change goes on with it`() throws {
        let bench = try Bench(officeAt: "2026-11-20T15:00Z")
        try bench.create(try Self.timer(.after(4 * Self.hour), .working), id: "a")
        try bench.create(try Self.timer(.after(4 * Self.hour), .working), id: "b")
        bench.pass(Self.hour)
        try bench.open(["sat": ["10:00-20:00"]])
        _ = try bench.apply(.suspend, id: "a")
        _ = try bench.apply(.resume, id: "a")
        bench.down(2 * Self.hour)
        bench.restart(["a", "b"])
        bench.advance()
        #expect(try bench.nextFire("a") == "2026-11-21T13:00Z")
        #expect(try bench.nextFire("b") == "2026-11-21T13:00Z")
        bench.restart(["a", "b"])
        #expect(bench.advance() == [])
    }

    @Test func `dropped instants belong to the schedule again once it is open`() throws {
        let bench = try Bench(officeAt: "2026-11-20T15:00Z")
        try bench.create(try Self.cron("0 12 * * *"))
        #expect(try bench.nextFire() == "2026-11-23T12:00Z")
        try bench.open(["mon-sun": ["09:00-17:00"]])
        #expect(bench.advance() == ["rescheduled"])
        #expect(try bench.nextFire() == "2026-11-21T12:00Z")
        try bench.open(["tue": ["09:00-17:00"]])
        bench.advance()
        #expect(try bench.nextFire() == "2026-11-24T12:00Z")
    }

    @Test func `an instant that has fired never fires again`() throws {
        let bench = try Bench(officeAt: "2026-07-20T00:00Z", week: ["mon-fri": ["00:00-24:00"]])
        try bench.create(try Self.cron("0 12 25 * *", .previousDay))
        // The 25th is a Saturday.
        #expect(try bench.fires(through: "2026-07-24T13:00Z") == ["2026-07-24T12:00Z"])
        try bench.open(["mon-sun": ["00:00-24:00"]])
        #expect(bench.advance() == ["untold"])
        #expect(try bench.nextFire() == "2026-08-25T12:00Z")
    }

    @Test func `a planned instant that moves into the past fires at once, and is no misfire`() throws {
        let bench = try Bench(officeAt: "2026-11-21T10:00Z")
        try bench.create(try Self.cron("0 12 * * SAT", .next))
        bench.advance(4 * Self.hour)
        #expect(try bench.nextFire() == "2026-11-23T09:00Z")
        try bench.open(["sat-sun": ["09:00-17:00"]])
        bench.advance()
        let fire = bench.effects.compactMap(\.fire).first
        #expect(fire.map { ZoneFiles.text($0.scheduledAt) } == "2026-11-21T12:00Z")
        #expect(bench.effects.map(\.reason) == [.calendar, .due])
        #expect(try bench.nextFire() == "2026-11-28T12:00Z")
    }

    @Test func `an instant that passed while the server was down is a misfire, whatever changed afterwards`() throws {
        let bench = try Bench(officeAt: "2026-11-20T15:00Z")
        try bench.create(try Self.timer(.after(3 * Self.hour), .working) { $0.misfire = .skip })
        // The third hour moves from Monday to half past seven in the evening.
        try bench.open(["fri": ["09:00-17:00", "18:30-20:00"]])
        bench.down(6 * Self.hour)
        bench.restart()
        try bench.open(["fri": ["09:00-18:00"]])
        bench.scheduler.noteLoopStall(until: bench.now)
        #expect(bench.advance() == ["rescheduled", "completed"])
        #expect(try bench.progress().missedCount == 1)
    }

    @Test func `an instant that passed while the server was down stays a misfire under another calendar`() throws {
        let bench = try Bench(officeAt: "2026-11-20T15:00Z")
        try bench.open(["mon-sun": ["00:00-24:00"]], name: "shop")
        let shop = try Bench.name("shop")
        try bench.create(try Self.timer(.after(3 * Self.hour), .working) { $0.misfire = .skip })
        try bench.open(["fri": ["09:00-17:00", "18:30-20:00"]])
        bench.down(6 * Self.hour)
        bench.restart()
        bench.scheduler.noteLoopStall(until: bench.now)
        try bench.amend { $0.calendar?.name = shop }
        #expect(bench.advance() == ["completed"])
        #expect(try bench.progress().missedCount == 1)
    }

    @Test func `without any instant left the timer runs on unplanned, and another change plans it`() throws {
        let bench = try Bench(officeAt: "2026-11-20T15:00Z")
        try bench.create(try Self.cron("0 12 * * *"))
        try bench.open(["mon": ["13:00-14:00"]])
        #expect(bench.advance() == ["rescheduled"])
        #expect(try bench.progress().state == .running)
        #expect(try bench.nextFire() == "none")
        #expect(bench.effects.first?.nextFireAt == nil)
        try bench.apply(.suspend)
        #expect(try bench.apply(.resume) == ["resumed"])
        #expect(try bench.nextFire() == "none")
        try bench.open(["mon": ["11:00-14:00"]])
        bench.advance()
        #expect(try bench.nextFire() == "2026-11-23T12:00Z")
    }

    @Test func `a fire that a client moved stays where it is`() throws {
        let bench = try Bench(officeAt: "2026-11-20T15:00Z")
        try bench.create(try Self.cron("0 12 * * *"))
        try bench.apply(.reschedule, .after(Self.hour))
        try bench.open(["mon-sun": ["09:00-17:00"]])
        #expect(bench.advance() == [])
        #expect(try bench.fires(through: "2026-11-21T12:00Z") == ["2026-11-20T16:00Z", "2026-11-21T12:00Z"])
    }

    @Test func `the sixty-fourth change is recorded for each timer`() throws {
        let bench = try Bench(officeAt: "2026-11-20T09:00Z")
        try bench.create(try Self.timer(.after(Self.hour), .working))
        for number in 1...64 {
            try bench.open(["mon-fri": ["09:00-17:00"], "sat": ["10:00-1\(1 + number % 2):00"]])
            #expect(bench.advance() == (number == 64 ? ["untold"] : []))
        }
    }
}
