import Testing

@testable import TimerCore

/// Timers and watchdogs with a recurrence rule, whose instants may come to an end.
struct RecurrenceTimerTests {
    private static let hour: Int64 = 3_600_000

    private static func recurrence(
        _ text: String, from: String = "2026-06-01T09:00Z", zone: String = "UTC", rdates: [String] = [],
        exdates: [String] = []
    ) throws -> Schedule {
        .recurrence(
            try RecurrenceSchedule(
                Array(text.utf8), zone: Array(zone.utf8), from: try ZoneFiles.instant(from),
                rdates: rdates.map { try ZoneFiles.instant($0) }, exdates: exdates.map { try ZoneFiles.instant($0) }))
    }

    private func bench(at start: String = "2026-06-01T08:00Z") throws -> Bench {
        let bench = Bench(zones: FileZones())
        bench.begin(at: try ZoneFiles.instant(start))
        return bench
    }

    private func fires(_ bench: Bench, days: Int64) -> [String] {
        var fires: [String] = []
        for _ in 0..<days * 24 {
            bench.advance(Self.hour)
            fires += bench.effects.compactMap(\.fire).map { ZoneFiles.text($0.scheduledAt) }
        }
        return fires
    }

    @Test func `a timer fires at each instant and completes with the last`() throws {
        let bench = try bench()
        try bench.create(
            rules(
                try Self.recurrence(
                    "FREQ=DAILY;COUNT=3", rdates: ["2026-06-02T12:00Z"], exdates: ["2026-06-02T09:00Z"])))
        #expect(fires(bench, days: 3) == ["2026-06-01T09:00Z", "2026-06-02T12:00Z", "2026-06-03T09:00Z"])
        #expect(try bench.progress().state == .completed)
        #expect(try bench.progress().missedCount == 0)
    }

    @Test func `a rule without a start begins with the step that makes or changes its timer`() throws {
        let bench = try bench(at: "2026-06-01T08:00Z")
        func open(_ text: String) throws -> RecurrenceSchedule {
            try RecurrenceSchedule(Array(text.utf8), zone: Array("UTC".utf8), from: nil)
        }
        func start() throws -> String { ZoneFiles.text(try #require(try bench.rules().schedule.from)) }
        // The request was read long ago, as it were: the instant at the start itself is due.
        bench.pass(200)
        try bench.create(rules(.recurrence(try open("FREQ=DAILY;COUNT=1"))))
        #expect(try start() == "2026-06-01T08:00:01Z")
        #expect(fires(bench, days: 1) == ["2026-06-01T08:00:01Z"])
        let now = ZoneFiles.text(bench.now.wall + 800)
        try bench.replace(rules(.expecting(.recurrence(try open("FREQ=DAILY")), grace: 1000)) { $0.maxFires = 9000 })
        #expect(try start() == now)
        bench.pass(800)
        let daily = try open("FREQ=DAILY;INTERVAL=2")
        #expect(try bench.amend { $0.schedule = .expecting(.recurrence(daily), grace: 2000) } == ["rescheduled"])
        #expect(try start() == now)
        let preview = try bench.scheduler.preview(rules(.recurrence(daily)), bench.now, count: 1).all()
        #expect(preview.map { ZoneFiles.text($0) } == [now])
    }

    @Test func `the local time stays over the change of clocks`() throws {
        let bench = try bench(at: "2026-10-23T00:00Z")
        try bench.create(
            rules(try Self.recurrence("FREQ=DAILY", from: "2026-10-23T07:00Z", zone: "Europe/Berlin")))
        #expect(fires(bench, days: 4).suffix(2) == ["2026-10-25T08:00Z", "2026-10-26T08:00Z"])
    }

    @Test func `instants that are over are refused at create and PATCH, and complete at activate and resume`() throws {
        let bench = try bench(at: "2026-06-10T00:00Z")
        let over = rules(try Self.recurrence("FREQ=DAILY;COUNT=3"))
        let refusal = TimerRefusal.invalidSchedule(pointer: "/rrule", reason: "no instant is left")
        #expect(throws: refusal) { try bench.create(over) }
        try bench.create(rules(.after(1000)))
        #expect(throws: refusal) { try bench.amend { $0 = over } }

        let two = rules(try Self.recurrence("FREQ=DAILY;COUNT=2", from: "2026-06-10T09:00Z")) { $0.start = .manual }
        try bench.create(two, id: "idle")
        try bench.create(two, id: "paused")
        try bench.apply(.activate, id: "paused")
        try bench.apply(.suspend, id: "paused")
        bench.pass(5 * Schedule.day)
        #expect(try bench.apply(.activate, id: "idle") == ["activated", "completed"])
        let resumed = try bench.apply(.resume, id: "paused")
        #expect(resumed.count == 3)
        #expect(resumed.last == "completed")
        #expect(try bench.progress("paused").missedCount == 1)
    }

    @Test func `a moved fire leaves the instants where they are`() throws {
        let bench = try bench()
        try bench.create(rules(try Self.recurrence("FREQ=DAILY")))
        try bench.apply(.reschedule, .after(5 * Self.hour))
        #expect(fires(bench, days: 2) == ["2026-06-01T13:00Z", "2026-06-02T09:00Z"])
    }

    @Test func `a watchdog that can't miss so many instants any more is kicked up to the last`() throws {
        let bench = try bench()
        let schedule = try Self.recurrence("FREQ=DAILY;COUNT=3")
        try bench.create(rules(.expecting(schedule, grace: Self.hour)) { $0.misses = 2 })
        bench.pass(25 * Self.hour + 1)
        try bench.apply(.kick)
        #expect(try bench.progress().state == .running)
        #expect(try !bench.progress().isPlanned)
        bench.pass(Schedule.day)
        #expect(try bench.apply(.kick).last == "completed")
    }

    @Test func `a watchdog completes with the kick that no instant follows`() throws {
        let bench = try bench()
        try bench.create(rules(.expecting(try Self.recurrence("FREQ=DAILY;COUNT=2"), grace: Self.hour)))
        #expect(fires(bench, days: 1) == ["2026-06-01T10:00Z"])
        #expect(try bench.apply(.kick) == ["recovered"])
        #expect(try bench.progress().state == .running)
        #expect(fires(bench, days: 2) == ["2026-06-02T10:00Z"])
        #expect(try bench.progress().state == .running)
        #expect(try bench.apply(.kick) == ["recovered", "completed"])
        #expect(try bench.progress().state == .completed)
    }
}
