import Platform
import TestSupport
import Testing

@testable import TimerCore
@testable import TimerLog
@testable import TimerService

/// Zones whose data change, as with an update of the system.
struct ChangedZones: ZoneSource {
    var offsets: [String: Int32]

    func zone(named name: [UInt8]) -> TimeZoneTable? {
        offsets[String(decoding: name, as: UTF8.self)].map { TimeZoneTable(offset: $0) }
    }
}

/// Zones that count the questions.
final class CountedZones: ZoneSource {
    private let zones: ChangedZones
    private let count = Guarded(0)

    init(_ zones: ChangedZones) { self.zones = zones }

    var questions: Int { count.withLock { $0 } }

    func zone(named name: [UInt8]) -> TimeZoneTable? {
        count.withLock { $0 += 1 }
        return zones.zone(named: name)
    }
}

struct ZoneChangeTests {
    private let store = MemoryLogStore()
    private let time = ManualTime()

    private func rig(_ offsets: [String: Int32]) throws -> Rig {
        var configuration = EngineConfiguration()
        configuration.zones = ChangedZones(offsets: offsets)
        return try Rig(store, configuration, time: time)
    }

    private func cron(_ text: String, zone: String = "Test/Zone") throws -> TimerRules {
        TimerRules(.cron(try CronSchedule(Array(text.utf8), zone: Array(zone.utf8), from: nil)))
    }

    private func replan(_ rig: Rig) throws -> Int {
        let replanned = rig.engine.replanZoned()
        try rig.settle()
        return replanned
    }

    private func recurrence(_ text: String) throws -> TimerRules {
        let schedule = try RecurrenceSchedule(Array(text.utf8), zone: Array("Test/Zone".utf8), from: 0)
        return TimerRules(.recurrence(schedule))
    }

    @Test(arguments: [true, false])
    func `timers at local times are planned again by changed data, and streams are told`(isRule: Bool) throws {
        var rig = try rig(["Test/Zone": 0, "Other": 0])
        try rig.create("noon", isRule ? try recurrence("FREQ=DAILY;BYHOUR=12") : try cron("0 12 * * *"))
        try rig.create("other", try cron("0 12 * * *", zone: "Other"))
        try rig.create("plain", TimerRules(.after(1_000_000)))
        try rig.settle()
        let due = try #require(rig.progress("noon")?.due)
        rig.stop()
        rig = try self.rig(["Test/Zone": 3600, "Other": 0])
        #expect(try replan(rig) == 1)
        #expect(rig.progress("noon")?.due == due - 3_600_000)
        #expect(rig.progress("noon")?.version == 2)
        #expect(rig.progress("other")?.due == due)
        let last = try #require(try rig.records().last(where: \.isEvent))
        #expect(last.content == .event(.rescheduled, .none, nil))
        try rig.expectFoldIsLive()
        #expect(try replan(rig) == 0)
        rig.stop()
    }

    @Test func `one that a client moved stays where it is, one that is suspended follows`() throws {
        var rig = try rig(["Test/Zone": 0])
        for id in ["moved", "held"] { try rig.create(id, try cron("0 12 * * *")) }
        try rig.change { turn throws(ServiceError) in
            _ = try turn.apply(.reschedule, rig.key("moved"), target: .after(5000), if: .none)
        }
        try rig.apply("held", .suspend)
        try rig.settle()
        let due = try #require(rig.progress("moved")?.due)
        rig.stop()
        rig = try self.rig(["Test/Zone": -7200])
        #expect(try replan(rig) == 1)
        #expect(rig.progress("moved")?.due == due)
        rig.stop()
    }

    @Test func `an instant that had come already is not lost to new data`() throws {
        var rig = try rig(["Test/Zone": 0])
        try rig.create("often", try cron("* * * * * *"))
        try rig.settle()
        rig.time.pass(milliseconds: 500)
        // The fire is so late that the next instant lies before it.
        rig.time.pass(milliseconds: 2600)
        _ = rig.engine.turn { $0.now }
        #expect(rig.engine.fire() != .held)
        try rig.settle()
        let due = try #require(rig.progress("often")?.due)
        rig.stop()
        rig = try self.rig(["Test/Zone": 60])
        _ = try replan(rig)
        #expect(rig.progress("often")?.due == due)
        rig.stop()
    }

    @Test func `a plan that the data still give stays, whatever became of the calendar`() throws {
        var rig = try rig(["Test/Zone": 0])
        let rules = try cron("0 * * * *")
        try rig.create("hourly", rules)
        let due = try #require(rig.progress("hourly")?.due)
        rig.time.step(milliseconds: -7_200_000)
        try rig.change { turn throws(ServiceError) in
            var amended = definition("hourly", rules, payload: Array("1".utf8))
            _ = try turn.amend(rig.key("hourly"), basis: 1, definition: &amended, if: .none)
        }
        #expect(rig.progress("hourly")?.version == 2)
        try rig.settle()
        rig.stop()
        rig = try self.rig(["Test/Zone": 0])
        #expect(try replan(rig) == 0)
        #expect(rig.progress("hourly")?.due == due)
        rig.stop()
    }

    @Test func `while storage fails nothing is planned anew, afterwards all is, and no timer is lost`() throws {
        let store = FaultyLogStore()
        var configuration = EngineConfiguration()
        configuration.zones = ChangedZones(offsets: ["Test/Zone": 0])
        var rig = try Rig(store, configuration, time: time)
        for number in 0..<3 { try rig.create("noon\(number)", try cron("0 12 * * *")) }
        try rig.settle()
        let due = try #require(rig.progress("noon0")?.due)
        rig.stop()
        configuration.zones = ChangedZones(offsets: ["Test/Zone": 3600])
        rig = try Rig(store, configuration, time: time)
        store.plan(.absent, .absent, .absent, .absent)
        try rig.create("other")
        try eventually("storage fails") { rig.locked { $0.storageFails } }
        #expect(rig.engine.replanZoned() == 0)
        try eventually("storage works again") { rig.locked { !$0.storageFails } }
        rig.fire()
        try rig.settle()
        for number in 0..<3 { #expect(rig.progress("noon\(number)")?.due == due - 3_600_000) }
        try rig.expectFoldIsLive()
        rig.stop()
    }

    @Test func `a timer deleted before its plan was checked is passed over, as is one in its slot`() throws {
        var rig = try rig(["Test/Zone": 0])
        for id in ["gone", "replaced", "kept"] { try rig.create(id, try cron("0 12 * * *")) }
        try rig.settle()
        rig.stop()
        rig = try self.rig(["Test/Zone": 3600])
        try rig.change { turn throws(ServiceError) in
            for id in ["gone", "replaced"] { _ = try turn.delete(rig.key(id), if: .none) }
        }
        try rig.create("plain", TimerRules(.after(1_000_000)))
        let plain = try #require(rig.progress("plain"))
        #expect(try replan(rig) == 1)
        #expect(rig.progress("kept")?.version == 2)
        #expect(rig.progress("plain") == plain)
        try rig.expectFoldIsLive()
        rig.stop()
    }

    @Test func `a start without a zone that a timer names fails, and says which`() throws {
        let rig = try rig(["Test/Zone": 0])
        try rig.create("noon", try cron("0 12 * * *"))
        try rig.settle()
        rig.stop()
        let error = #expect(throws: StoreError.self) {
            try TimerService(store: store, configuration: EngineConfiguration()) { _ in }
        }
        #expect(error?.kind == .unusable)
        #expect(error?.description.contains("Test/Zone") ?? false)
    }

    // Calendars.

    private static let hour: Int64 = 3_600_000

    /// Opens the calendar `office` every day from 09:00 to 17:00, and makes timers that go by it.
    private func office(_ rig: Rig, _ timers: KeyValuePairs<String, TimerRules>) throws {
        let name = try #require(CalendarName("office".utf8))
        let content = CalendarContent(try Self.hours(), week: [], dates: [])
        try rig.change { turn throws(ServiceError) in _ = try turn.putCalendar(name, content, if: .none, unless: .none)
        }
        for (id, rules) in timers {
            var rules = rules
            rules.calendar = CalendarRule(name, onClosed: rules.clock == .working ? .skip : .next)
            try rig.create(id, rules)
        }
        try rig.settle()
    }

    private static func hours() throws -> CalendarDefinition {
        try CalendarDefinition(
            zone: Array("Test/Zone".utf8),
            week: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"].map {
                (Array($0.utf8), [Array("09:00-17:00".utf8)])
            },
            dates: [])
    }

    private static func openHours(_ offset: Int32) throws -> OpenHours {
        OpenHours(try hours(), in: TimeZoneTable(offset: offset))
    }

    private static func working(_ hours: Int64) -> TimerRules {
        var rules = TimerRules(.after(hours * hour))
        rules.clock = .working
        return rules
    }

    private func now(_ rig: Rig) -> Int64 { rig.engine.turn { $0.now.wall } }

    @Test func `working time that has counted stays counted, what is left counts by the new data`() throws {
        var rig = try rig(["Test/Zone": 0])
        try office(rig, ["long": Self.working(30), "held": Self.working(30), "brief": Self.working(0)])
        let start = now(rig)
        rig.fire()
        try rig.apply("held", .suspend)
        let held = try #require(rig.progress("held"))
        try rig.settle()
        rig.stop()
        rig.time.pass(milliseconds: 30 * Self.hour)
        rig = try self.rig(["Test/Zone": 7200])
        let changed = now(rig)
        #expect(try replan(rig) == 1)
        let counted = try Self.openHours(0).elapsed(from: start, to: changed)
        let due = try #require(try Self.openHours(7200).due(after: 30 * Self.hour - counted, from: changed))
        #expect(rig.progress("long")?.due == due)
        #expect(due != (try Self.openHours(0).due(after: 30 * Self.hour, from: start)))
        #expect(rig.progress("held")?.due == held.due && rig.progress("held")?.version == held.version)
        let last = try #require(try rig.records().last(where: \.isEvent))
        #expect(last.content == .event(.rescheduled, .calendar, nil))
        // The same data once more move nothing.
        rig.stop()
        rig = try self.rig(["Test/Zone": 7200])
        let records = try rig.records().count
        #expect(try replan(rig) == 0)
        #expect(try rig.records().count == records)
        rig.stop()
    }

    @Test func `a calendar that is set before its zone is checked has both changes`() throws {
        var rig = try rig(["Test/Zone": 0])
        try office(rig, ["long": Self.working(30)])
        let start = now(rig)
        rig.stop()
        rig.time.pass(milliseconds: 30 * Self.hour)
        rig = try self.rig(["Test/Zone": 7200])
        let changed = now(rig)
        let name = try #require(CalendarName("office".utf8))
        // The text differs, the hours don't.
        let content = CalendarContent(try Self.hours(), week: [1], dates: [])
        try rig.change { turn throws(ServiceError) in _ = try turn.putCalendar(name, content, if: .none, unless: .none)
        }
        #expect(try replan(rig) == 1)
        let counted = try Self.openHours(0).elapsed(from: start, to: changed)
        #expect(
            rig.progress("long")?.due == (try Self.openHours(7200).due(after: 30 * Self.hour - counted, from: changed)))
        rig.stop()
    }

    @Test func `a crash while timers are planned again moves none of them twice`() throws {
        var rig = try rig(["Test/Zone": 0])
        let count = EngineConfiguration.stepLimit + 5
        try office(rig, [:])
        let name = try #require(CalendarName("office".utf8))
        let start = now(rig)
        for number in 0..<count {
            var rules = Self.working(30)
            rules.calendar = CalendarRule(name, onClosed: .skip)
            try rig.create("t\(number)", rules)
        }
        try rig.settle()
        rig.stop()
        rig = try self.rig(["Test/Zone": 7200])
        let changed = now(rig)
        rig.locked { engine in
            let now = engine.instant()
            #expect(!engine.replanStep(now).isDone)
            engine.afterChanges(now)
        }
        try rig.settle()
        rig.stop()
        rig.time.pass(milliseconds: 12 * Self.hour)
        rig = try self.rig(["Test/Zone": 7200])
        #expect(try (1..<count).contains(replan(rig)))
        let counted = try Self.openHours(0).elapsed(from: start, to: changed)
        let due = try Self.openHours(7200).due(after: 30 * Self.hour - counted, from: changed)
        for number in 0..<count { #expect(rig.progress("t\(number)")?.due == due, "\(number)") }
        try rig.expectFoldIsLive()
        rig.stop()
    }

    @Test func `calendars are looked through once, however many timers are still to be planned by an earlier change`()
        throws
    {
        var rig = try rig(["Test/Zone": 0])
        try office(rig, [:])
        let name = try #require(CalendarName("office".utf8))
        let count = 5 * EngineConfiguration.stepLimit
        for number in 0..<count {
            var rules = Self.working(30)
            rules.calendar = CalendarRule(name, onClosed: .skip)
            try rig.create("t\(number)", rules)
        }
        try rig.settle()
        rig.stop()
        rig = try self.rig(["Test/Zone": 7200])
        rig.locked { engine in
            let now = engine.instant()
            #expect(!engine.replanStep(now).isDone)
            engine.afterChanges(now)
        }
        try rig.settle()
        rig.stop()
        var configuration = EngineConfiguration()
        let zones = CountedZones(ChangedZones(offsets: ["Test/Zone": 3600]))
        configuration.zones = zones
        rig = try Rig(store, configuration, time: time)
        let before = zones.questions
        var steps = 0
        #expect(rig.engine.replanZoned { steps += 1 } == count)
        #expect(steps > 10 && zones.questions - before < 8, "\(steps) steps, \(zones.questions - before) questions")
        rig.stop()
    }

    @Test func `instants by a calendar whose zone has changed keep their local time`() throws {
        var rig = try rig(["Test/Zone": 0])
        let day = now(rig) / (24 * Self.hour) * 24 * Self.hour
        try office(
            rig,
            [
                "noon": try cron("0 12 * * *"), "night": try cron("0 20 * * *"),
                "at": TimerRules(.at(day + 44 * Self.hour)),
            ])
        let due = ["noon", "night", "at"].map { rig.progress($0)?.due ?? 0 }
        rig.stop()
        rig = try self.rig(["Test/Zone": -3600])
        #expect(try replan(rig) == 3)
        // The instant of `at` is closed by both data: the next opening has moved.
        for (id, old) in zip(["noon", "night", "at"], due) {
            #expect(rig.progress(id)?.due == old + Self.hour, "\(id)")
        }
        try rig.expectFoldIsLive()
        #expect(try replan(rig) == 0)
        rig.stop()
    }

    @Test(arguments: [false, true])
    func `an instant that had come before its calendar changed is due as it was, the zone checked or not`(
        isSetBack: Bool
    ) throws {
        var rig = try rig(["Test/Zone": 0])
        let day = now(rig) / (24 * Self.hour) * 24 * Self.hour
        try office(rig, ["at": TimerRules(.at(day + 44 * Self.hour)), "night": try cron("0 20 * * *")])
        let due = ["at", "night"].map { rig.progress($0)?.due ?? 0 }
        rig.stop()
        rig.time.pass(milliseconds: 72 * Self.hour)
        rig = try self.rig(["Test/Zone": 0])
        #expect(due.allSatisfy { $0 < now(rig) })
        let name = try #require(CalendarName("office".utf8))
        let hours = try CalendarDefinition(
            zone: Array("Test/Zone".utf8), week: [(Array("mon-sun".utf8), [Array("08:00-21:00".utf8)])], dates: [])
        try rig.change { turn throws(ServiceError) in
            _ = try turn.putCalendar(name, CalendarContent(hours, week: [], dates: []), if: .none, unless: .none)
        }
        if isSetBack { rig.time.step(milliseconds: -72 * Self.hour) }
        _ = try replan(rig)
        #expect(rig.progress("at")?.due == due[0])
        // To the zone's check, an instant of the schedule's own zone that lies ahead again is one that new data moved.
        if !isSetBack { #expect(rig.progress("night")?.due == due[1]) }
        rig.stop()
    }
}
