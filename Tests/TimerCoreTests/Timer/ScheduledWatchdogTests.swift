import Testing

@testable import TimerCore

/// Watchdogs with a cron schedule: a kick is expected at each of its instants.
struct ScheduledWatchdogTests {
    private static let minute: Int64 = 60_000
    private static let hour: Int64 = 3_600_000

    /// A bench whose calendar begins at `start`, with one such watchdog.
    private func bench(
        _ cron: String, grace: Int64 = 10 * minute, zone: String = "UTC", from: String? = nil, at start: String,
        _ edit: (inout TimerRules) -> Void = { _ in }
    ) throws -> Bench {
        let bench = Bench(zones: FileZones())
        bench.begin(at: try ZoneFiles.instant(start))
        try bench.create(rules(try expecting(cron, grace: grace, zone: zone, from: from), edit))
        return bench
    }

    private func expecting(
        _ cron: String, grace: Int64 = 10 * minute, zone: String = "UTC", from: String? = nil
    ) throws -> Schedule {
        let from = try from.map { try ZoneFiles.instant($0) }
        return .expecting(
            .cron(try CronSchedule(Array(cron.utf8), zone: Array(zone.utf8), from: from)), grace: grace)
    }

    /// The instant at which the alarm is due, as the timer shows it.
    private func alarm(_ bench: Bench) throws -> String? {
        try bench.progress().nextFireAt(bench.rules(), bench.now).map(ZoneFiles.text)
    }

    private func upcoming(_ bench: Bench, _ count: Int) throws -> [String] {
        bench.scheduler.upcoming(try bench.slot(), bench.now, count: count).all().map(ZoneFiles.text)
    }

    /// Advances to an instant by steps of a minute at most, as the fire loop does. Returns the instants of the alarms.
    private func run(_ bench: Bench, to end: String) throws -> [String] {
        let end = try ZoneFiles.instant(end)
        var alarms: [String] = []
        while bench.now.wall < end {
            bench.advance(min(Self.minute, end - bench.now.wall))
            alarms += bench.effects.compactMap(\.fire).map { ZoneFiles.text($0.scheduledAt) }
        }
        return alarms
    }

    @Test func `the alarm is due the grace after the instant that follows the last kick`() throws {
        let bench = try bench("0 3 * * *", at: "2026-06-01T12:00Z")
        #expect(try alarm(bench) == "2026-06-02T03:10Z")
        #expect(try upcoming(bench, 2) == ["2026-06-02T03:00Z", "2026-06-03T03:00Z"])
        #expect(try run(bench, to: "2026-06-02T03:05Z") == [])
        #expect(try alarm(bench) == "2026-06-02T03:10Z")
        try bench.apply(.kick)
        #expect(try alarm(bench) == "2026-06-03T03:10Z")
        #expect(try run(bench, to: "2026-06-03T12:00Z") == ["2026-06-03T03:10Z"])
        #expect(try bench.progress().isAlarming)
        #expect(try alarm(bench) == nil)
        #expect(try upcoming(bench, 1) == ["2026-06-04T03:00Z"])
        #expect(try bench.apply(.kick) == ["recovered"])
        #expect(bench.effects.first?.stalledFor == 8 * Self.hour + 50 * Self.minute)
        #expect(try alarm(bench) == "2026-06-04T03:10Z")
    }

    @Test func `without a kick it was silent since it was set going`() throws {
        let bench = try bench("0 3 * * *", at: "2026-06-01T12:00Z")
        #expect(try run(bench, to: "2026-06-02T04:00Z") == ["2026-06-02T03:10Z"])
        #expect(try bench.kicks().lastKickedAt == 0)
        #expect(try bench.apply(.kick) == ["recovered"])
        #expect(bench.effects.first?.stalledFor == 50 * Self.minute)
        #expect(bench.effects.first?.silentFor == 16 * Self.hour)
    }

    @Test(arguments: [
        // A kick may be early by a minute, and by half the time from the instant before.
        ("0 3 * * *", "2026-06-02T02:59:00Z", "2026-06-03T03:10Z"),
        ("0 3 * * *", "2026-06-02T02:59:01Z", "2026-06-03T03:10Z"),
        ("0 3 * * *", "2026-06-02T02:58:59Z", "2026-06-02T03:10Z"),
        ("0 3 * * *", "2026-06-02T03:00:00Z", "2026-06-03T03:10Z"),
        ("* * * * *", "2026-06-02T02:59:30Z", "2026-06-02T03:11Z"),
        ("* * * * *", "2026-06-02T02:59:29Z", "2026-06-02T03:10Z"),
        ("*/10 * * * * *", "2026-06-02T02:59:55Z", "2026-06-02T03:10:10Z"),
        ("*/10 * * * * *", "2026-06-02T02:59:54Z", "2026-06-02T03:10Z"),
    ])
    func `a kick that is a little early counts for the instant`(
        cron: String, kick: String, expected: String
    ) throws {
        let bench = try bench(cron, at: "2026-06-01T12:00Z")
        bench.pass(try ZoneFiles.instant(kick) - bench.now.wall)
        try bench.apply(.kick)
        #expect(try alarm(bench) == expected)
        let instant = try ZoneFiles.instant(expected) - 10 * Self.minute
        #expect(try upcoming(bench, 1) == [ZoneFiles.text(instant)])
    }

    @Test func `activation, resume and a change of the schedule begin with the next instant, however near`() throws {
        let bench = try bench("0 3 * * *", at: "2026-06-02T02:59:30Z")
        #expect(try alarm(bench) == "2026-06-02T03:10Z")
        try bench.apply(.suspend)
        #expect(try alarm(bench) == nil)
        #expect(try upcoming(bench, 1) == [])
        try bench.apply(.resume)
        #expect(try alarm(bench) == "2026-06-02T03:10Z")
        let hourly = try expecting("0 * * * *", grace: Self.minute)
        #expect(try bench.amend { $0.schedule = hourly } == ["rescheduled"])
        #expect(try alarm(bench) == "2026-06-02T03:01Z")
        try bench.replace(rules(hourly))
        #expect(try alarm(bench) == "2026-06-02T03:01Z")
    }

    @Test func `an instant during downtime gets its grace from the return on`() throws {
        let bench = try bench("0 3 * * *", at: "2026-06-02T02:00Z")
        bench.down(3 * Self.hour)
        bench.restart()
        bench.scheduler.noteLoopStall(until: bench.now)
        #expect(bench.advance() == ["untold"])
        #expect(try alarm(bench) == "2026-06-02T05:10Z")
        #expect(try run(bench, to: "2026-06-02T05:09Z") == [])
        #expect(try run(bench, to: "2026-06-02T06:00Z") == ["2026-06-02T05:10Z"])
    }

    @Test func `downtime in the grace does not count, from whatever row the timer is read`() throws {
        let bench = try bench("0 3 * * *", at: "2026-06-02T02:00Z")
        #expect(try run(bench, to: "2026-06-02T03:04Z") == [])
        for _ in 0..<2 {
            bench.down(Self.hour)
            bench.restart()
            bench.scheduler.noteLoopStall(until: bench.now)
            #expect(bench.advance() == [])
        }
        #expect(try alarm(bench) == "2026-06-02T05:10Z")
        #expect(try run(bench, to: "2026-06-02T06:00Z") == ["2026-06-02T05:10Z"])
    }

    @Test func `downtime before the instant moves nothing`() throws {
        let bench = try bench("0 3 * * *", at: "2026-06-01T12:00Z")
        bench.down(3 * Self.hour)
        bench.restart()
        bench.scheduler.noteLoopStall(until: bench.now)
        #expect(try alarm(bench) == "2026-06-02T03:10Z")
        #expect(try run(bench, to: "2026-06-02T06:00Z") == ["2026-06-02T03:10Z"])
    }

    @Test func `instants that pass in one outage share an alarm, and each later one has its own`() throws {
        let bench = try bench("0 * * * *", at: "2026-06-02T02:30Z") { $0.repeatAlarm = true }
        bench.down(3 * Self.hour)
        bench.scheduler.noteLoopStall(until: bench.now)
        bench.advance()
        #expect(try run(bench, to: "2026-06-02T06:30Z") == ["2026-06-02T05:40Z", "2026-06-02T06:10Z"])
        #expect(try bench.progress().missedCount == 2)
    }

    @Test func `it alarms again the grace after each further instant, also where that is longer than the way`() throws {
        for grace in [Self.minute, 150 * Self.minute] {
            let bench = try bench("0 * * * *", grace: grace, at: "2026-06-02T02:30Z") { $0.repeatAlarm = true }
            let first = try ZoneFiles.instant("2026-06-02T03:00Z") + grace
            let expected = (0..<3).map { ZoneFiles.text(first + $0 * Self.hour) }
            #expect(try run(bench, to: ZoneFiles.text(first + 2 * Self.hour)) == expected)
            #expect(try bench.progress().missedCount == 0)
            #expect(try bench.apply(.kick) == ["recovered"])
            #expect(bench.effects.first?.stalledFor == 2 * Self.hour)
        }
    }

    @Test func `it stalls after several instants in a row`() throws {
        let bench = try bench("0 * * * *", at: "2026-06-02T02:30Z") { $0.misses = 3 }
        #expect(try alarm(bench) == "2026-06-02T05:10Z")
        #expect(try upcoming(bench, 2) == ["2026-06-02T03:00Z", "2026-06-02T04:00Z"])
        #expect(try run(bench, to: "2026-06-02T04:30Z") == [])
        try bench.apply(.kick)
        #expect(try alarm(bench) == "2026-06-02T07:10Z")
        #expect(try run(bench, to: "2026-06-02T09:00Z") == ["2026-06-02T07:10Z"])
    }

    @Test(arguments: [31, 32, 33, 1000, 40_000] as [Int64])
    func `many misses are counted by instants`(misses: Int64) throws {
        let bench = try bench("0 * * * *", at: "2026-06-02T02:30Z") { $0.misses = misses }
        let expected = try ZoneFiles.instant("2026-06-02T02:10Z") + misses * Self.hour
        #expect(try alarm(bench) == ZoneFiles.text(expected))
    }

    @Test(
        arguments: [
            ("0 3 * * *", "2300-01-01T00:00Z", 32, "2300-02-01T03:10Z"),
            ("0 3 * * *", "2300-01-01T00:00Z", 33, "2300-02-02T03:10Z"),
            ("0 0 29 2 *", nil, 25, "2128-02-29T00:10Z"), ("0 0 29 2 *", nil, 26, nil),
            ("0 0 1 1 *", nil, 101, "2127-01-01T00:10Z"), ("0 0 1 1 *", nil, 102, nil),
            ("* * * * *", nil, 52_596_000, "2126-06-03T02:40Z"), ("* * * * *", nil, 52_596_002, nil),
        ] as [(String, String?, Int64, String?)])
    func `the last of many instants lies at most 36525 days after the first`(
        cron: String, from: String?, misses: Int64, expected: String?
    ) throws {
        func made() throws -> Bench {
            try bench(cron, from: from, at: "2026-06-02T02:30Z") { $0.misses = misses }
        }
        if let expected {
            #expect(try alarm(made()) == expected)
        } else {
            let reason = "the schedule has not so many instants, or not within 36525 days of the first"
            #expect(throws: TimerRefusal.invalidSchedule(pointer: "/misses", reason: reason)) { try made() }
        }
    }

    @Test(arguments: [
        // 02:30 is left out, and its instant is the end of the gap; then it comes twice, and the first counts.
        ("30 2 * * *", "Europe/Brussels", "2026-03-28T12:00Z", ["2026-03-29T01:00Z", "2026-03-30T00:30Z"]),
        ("30 2 * * *", "Europe/Brussels", "2026-10-24T12:00Z", ["2026-10-25T00:30Z", "2026-10-26T01:30Z"]),
        ("15 2 * * *", "Australia/Lord_Howe", "2026-10-02T20:00Z", ["2026-10-03T15:30Z", "2026-10-04T15:15Z"]),
    ])
    func `its instants are those of the zone`(cron: String, zone: String, start: String, expected: [String]) throws {
        let bench = try bench(cron, zone: zone, at: start) { $0.repeatAlarm = true }
        #expect(try upcoming(bench, 2) == expected)
        let alarms = try expected.map { ZoneFiles.text(try ZoneFiles.instant($0) + 10 * Self.minute) }
        #expect(try run(bench, to: alarms[1]) == alarms)
    }

    @Test func `from, until and maxFires count`() throws {
        let late = try bench("0 3 * * *", from: "2026-06-03T00:00Z", at: "2026-06-01T12:00Z")
        #expect(try alarm(late) == "2026-06-03T03:10Z")
        let until = try ZoneFiles.instant("2026-06-03T03:05Z")
        let ending = try bench("0 3 * * *", at: "2026-06-01T12:00Z") { $0.until = until }
        #expect(try upcoming(ending, 5) == ["2026-06-02T03:00Z", "2026-06-03T03:00Z"])
        #expect(try run(ending, to: "2026-06-02T12:00Z") == ["2026-06-02T03:10Z"])
        try ending.apply(.kick)
        // The alarm would come after `until`, at which the timer completes.
        #expect(try alarm(ending) == nil)
        #expect(try run(ending, to: "2026-06-03T04:00Z") == [])
        #expect(try ending.progress().state == .completed)
        let once = try bench("0 3 * * *", at: "2026-06-01T12:00Z") { $0.maxFires = 1 }
        #expect(try run(once, to: "2026-06-02T04:00Z") == ["2026-06-02T03:10Z"])
        #expect(try once.progress().state == .completed)
        #expect(throws: TimerRefusal.self) {
            try bench("0 3 * * *", at: "2026-06-01T12:00Z") { $0.until = until - 30 * Self.hour }
        }
    }

    @Test func `a plain watchdog gets a schedule and loses it again`() throws {
        let bench = Bench(zones: FileZones())
        bench.begin(at: try ZoneFiles.instant("2026-06-02T02:30Z"))
        try bench.create(rules(.watchdog(Self.minute)))
        try bench.apply(.kick)
        #expect(try upcoming(bench, 1) == [])
        let nightly = try expecting("0 3 * * *")
        #expect(try bench.amend { $0.schedule = nightly } == ["rescheduled"])
        #expect(try alarm(bench) == "2026-06-02T03:10Z")
        #expect(try run(bench, to: "2026-06-02T04:00Z") == ["2026-06-02T03:10Z"])
        #expect(try bench.amend { $0.schedule = .watchdog(Self.minute) }.last == "rescheduled")
        #expect(try bench.progress().flags == [])
        #expect(try bench.kicks().graceFrom == 0)
        #expect(try alarm(bench) == "2026-06-02T04:01Z")
        #expect(try bench.kicks().kickCount == 1)
    }

    @Test func `steps of the calendar move the instant, but not a grace that counts`() throws {
        let bench = try bench("0 3 * * *", at: "2026-06-02T02:00Z")
        bench.stepWall(30 * Self.minute)
        #expect(try alarm(bench) == "2026-06-02T03:10Z")
        bench.stepWall(-90 * Self.minute)
        #expect(try alarm(bench) == "2026-06-02T03:10Z")
        #expect(try run(bench, to: "2026-06-02T02:50Z") == [])
        // An instant that a step of the calendar passes over gets its grace from then on.
        bench.stepWall(40 * Self.minute)
        bench.advance()
        #expect(try alarm(bench) == "2026-06-02T03:40Z")
        bench.stepWall(-Self.hour)
        #expect(try run(bench, to: "2026-06-02T02:45Z") == ["2026-06-02T02:40Z"])
    }

    @Test func `a client moves the alarm, also of a suspended one`() throws {
        let bench = try bench("0 3 * * *", at: "2026-06-02T02:00Z") { $0.repeatAlarm = true }
        #expect(try bench.apply(.reschedule, .after(Self.minute)) == ["rescheduled"])
        #expect(try run(bench, to: "2026-06-02T04:00Z") == ["2026-06-02T02:01Z", "2026-06-02T03:10Z"])
        try bench.apply(.suspend)
        try bench.apply(.reschedule, .after(5 * Self.minute))
        try bench.apply(.resume)
        #expect(try alarm(bench) == "2026-06-02T04:05Z")
    }

    @Test func `repeatAlarm that is set while it is stalled counts from the next instant`() throws {
        let bench = try bench("0 * * * *", at: "2026-06-02T02:30Z")
        #expect(try run(bench, to: "2026-06-02T03:30Z") == ["2026-06-02T03:10Z"])
        try bench.amend { $0.repeatAlarm = true }
        #expect(try alarm(bench) == "2026-06-02T04:10Z")
        #expect(try run(bench, to: "2026-06-02T04:05Z") == [])
        try bench.amend { $0.repeatAlarm = false }
        #expect(try alarm(bench) == nil)
        try bench.amend { $0.repeatAlarm = true }
        #expect(try alarm(bench) == "2026-06-02T04:10Z")
    }

    @Test func `one that is kicked each minute alarms only once it is not`() throws {
        let bench = try bench("* * * * *", grace: 10_000, at: "2026-06-02T02:00:05Z")
        for _ in 0..<5 {
            bench.advance(Self.minute)
            try bench.apply(.kick)
        }
        #expect(try bench.progress().fireCount == 0)
        #expect(try run(bench, to: "2026-06-02T03:00Z") == ["2026-06-02T02:06:10Z"])
    }
}
