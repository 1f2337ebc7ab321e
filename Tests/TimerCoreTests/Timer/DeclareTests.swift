import Testing

@testable import TimerCore

/// Declarations: definitions that come again and again.
struct DeclareTests {
    private static let states: [TimerState] = [.idle, .running, .suspended, .cancelled, .completed]
    private static let schedules: [Schedule] = [
        .after(1000), .at(Bench.wall(1000)), .every(1000, first: .after(300)), .every(1000, first: .at(Bench.wall(5))),
        .watchdog(1000),
    ]

    @Test(arguments: states, schedules)
    func `nothing differs: no event and no version, in any state`(state: TimerState, schedule: Schedule) throws {
        let bench = Bench()
        try bench.make(rules(schedule), in: state)
        let (before, same) = (try bench.progress(), try bench.rules())
        bench.pass(50)
        #expect(try bench.declare(same) == [])
        #expect(try bench.progress() == before)
    }

    @Test func `one that is declared more often than it fires stays on its grid`() throws {
        let bench = Bench()
        try bench.create(rules(.every(3000, first: .period)))
        var fires: [String] = []
        for _ in 0..<30 {
            fires += bench.advance(2000)
            #expect(try bench.declare(rules(.every(3000, first: .period))) == [])
        }
        #expect(fires.count == 20)
        #expect(fires.first == "fired due 3000" && fires.last == "fired due 60000")
    }

    @Test func `an alarm stays as long as the schedule does`() throws {
        let bench = Bench()
        try bench.create(rules(.watchdog(100)))
        bench.advance(150)
        #expect(try bench.declare(rules(.watchdog(100))) == [])
        #expect(try bench.declare(rules(.watchdog(100)), labels: [("a", "b")]) == ["updated"])
        #expect(try bench.progress().flags == [.stalled, .unplanned])
        #expect(try bench.declare(rules(.watchdog(200))) == ["recovered", "rescheduled"])
        #expect(try bench.progress().flags == [])
    }

    @Test(arguments: states)
    func `labels, payload and flags change in place`(state: TimerState) throws {
        let bench = Bench()
        try bench.make(rules(.every(1000, first: .period)), in: state)
        let before = try bench.progress()
        let declared = try bench.rules()
        bench.pass(50)
        #expect(
            try bench.declare(declared, labels: [("a", "b")], payload: "[1]") == ["updated"])
        let after = try bench.progress()
        #expect(after.state == state && after.due == before.due && after.version == before.version + 1)
        // A declaration gives each field as a whole: an absent one goes back to its default.
        #expect(try bench.declare(declared) == ["updated"])
        #expect(bench.scheduler.withDefinition(try bench.slot()) { Definition.labels($0).isEmpty })
    }

    @Test func `a changed schedule counts anew, and a suspended timer stays suspended`() throws {
        let bench = Bench()
        try bench.create(rules(.after(1000)))
        bench.advance(400)
        #expect(try bench.declare(rules(.after(2000))) == ["rescheduled"])
        #expect(try bench.due() == 2400)
        try bench.apply(.suspend)
        #expect(try bench.declare(rules(.at(Bench.wall(9000)))) == ["rescheduled"])
        #expect(try bench.progress().state == .suspended)
        try bench.apply(.resume)
        #expect(try bench.due() == 9000)
    }

    @Test(
        arguments: [
            (.idle, ["updated"], .idle), (.running, ["updated", "activated"], .running),
            (.suspended, ["updated"], .suspended), (.cancelled, ["updated", "activated"], .running),
            (.completed, ["updated", "activated"], .running),
        ] as [(TimerState, [String], TimerState)])
    func `another kind replaces`(state: TimerState, events: [String], after: TimerState) throws {
        let bench = Bench()
        try bench.make(rules(.after(1000)), in: state)
        let fires = try bench.progress().fireCount
        #expect(try bench.declare(rules(.every(100, first: .period)) { $0.maxFires = 2 }) == events)
        #expect(try bench.progress().state == after)
        #expect(try bench.progress().firesSinceActivation == 0 && bench.progress().fireCount == fires)
        if after == .suspended {
            #expect(bench.advance(1000) == [])
            #expect(try bench.apply(.resume) == ["resumed"])
            #expect(try bench.due() == 1200)
        }
        if after == .running { #expect(bench.advance(100) == ["fired due 200"]) }
    }

    @Test(arguments: [TimerState.cancelled, .completed])
    func `another schedule replaces a timer that has ended, other fields leave it ended`(state: TimerState) throws {
        let bench = Bench()
        try bench.make(rules(.after(1000)) { $0.maxFires = 1 }, in: state)
        let declared = rules(.after(1000)) { $0.maxFires = 1 }
        #expect(try bench.declare(declared, labels: [("a", "b")]) == ["updated"])
        #expect(try bench.progress().state == state)
        #expect(try bench.declare(rules(.after(2000))) == ["updated", "activated"])
        #expect(try bench.due() == 2100)
    }

    @Test func `start is stored and starts nothing`() throws {
        let bench = Bench()
        try bench.create(rules(.after(1000)))
        #expect(try bench.declare(rules(.after(1000)) { $0.start = .manual }) == ["updated"])
        #expect(try bench.progress().state == .running && bench.rules().start == .manual)
        #expect(
            try bench.declare(rules(.every(500, first: .period)) { $0.start = .manual }) == ["updated", "activated"])
        #expect(try bench.declare(rules(.every(500, first: .period))) == ["updated"])
        let idle = Bench()
        try idle.make(rules(.after(1000)), in: .idle)
        #expect(try idle.declare(rules(.after(1000))) == ["updated"])
        #expect(try idle.progress().state == .idle)
    }

    @Test func `a definition that no longer fits is refused only where it would count`() throws {
        let bench = Bench()
        let short = rules(.after(100)) { $0.until = Bench.wall(100) }
        try bench.create(short)
        bench.advance(100)
        bench.advance(1000)
        #expect(try bench.declare(short) == [])
        let refusal = TimerRefusal.invalidSchedule(pointer: "/until", reason: "no fire is due at or before `until`")
        #expect(throws: refusal) { try bench.declare(rules(.after(200)) { $0.until = Bench.wall(100) }) }
        #expect(try bench.rules() == short)
    }

    @Test func `the stored from is kept by a schedule that can have one`() throws {
        func cron(_ text: String, from: Int64?) throws -> Schedule {
            .cron(try CronSchedule(Array(text.utf8), zone: Array("UTC".utf8), from: from))
        }
        let stored = try cron("0 9 * * *", from: 5000)
        #expect(try cron("0 8 * * *", from: nil).keepingFrom(of: stored) == cron("0 8 * * *", from: 5000))
        func recurrence(_ text: String, from: Int64) throws -> Schedule {
            .recurrence(try RecurrenceSchedule(Array(text.utf8), zone: Array("UTC".utf8), from: from))
        }
        let daily = try recurrence("FREQ=DAILY", from: 5000)
        #expect(
            try recurrence("FREQ=WEEKLY", from: 9000).keepingFrom(of: daily) == recurrence("FREQ=WEEKLY", from: 5000))
        #expect(
            try recurrence("FREQ=WEEKLY", from: 9000).keepingFrom(of: stored) == recurrence("FREQ=WEEKLY", from: 5000))
        #expect(try cron("0 8 * * *", from: nil).keepingFrom(of: .after(1)) == cron("0 8 * * *", from: nil))
        #expect(Schedule.after(1).keepingFrom(of: stored) == .after(1))
    }

    @Test func `another spelling of a cron expression is stored, and the pending fire stays`() throws {
        let bench = Bench()
        func cron(_ text: String) throws -> TimerRules {
            rules(.cron(try CronSchedule(Array(text.utf8), zone: Array("UTC".utf8), from: nil)))
        }
        try bench.create(cron("0 9 * * MON"))
        let due = try bench.due()
        #expect(try bench.declare(cron("0 9 * * MON")) == [])
        #expect(try bench.declare(cron("0 9 * * 1")) == ["updated"])
        #expect(try bench.due() == due)
        // Another spelling is another schedule all the same, so that a timer that has ended begins again.
        try bench.apply(.cancel)
        #expect(try bench.declare(cron("0 9 * * 1")) == [])
        #expect(try bench.declare(cron("0 9 * * mon")) == ["updated", "activated"])
    }
}
