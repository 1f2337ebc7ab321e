import TestSupport
import Testing
import TimerService
import WireJSON

@testable import TimerAPI
@testable import TimerCore

/// The lines of an export, read as an import reads them.
struct MoveLineTests {
    private static let export = "0123456789abcdef0123456789abcdef"
    private static let now = Now(elapsed: 5_000_000_000_000, wallOffset: 1_700_000_000_000, downtime: 77)

    private func read(_ line: [UInt8], dropsSecrets: Bool = false) throws(Problem) -> ImportLine {
        var document = JSONDocument()
        do throws(JSONError) { try document.parse(line) } catch {
            throw Problem(.invalidRequest, error.message, pointer: error.pointer)
        }
        return try ImportLine(document, export: Self.export, dropsSecrets: dropsSecrets, zones: UTCOnly())
    }

    /// A progress as a timer of these rules can have it.
    private static func progress(_ rules: TimerRules, _ generator: inout SeededGenerator) -> TimerProgress {
        var progress = TimerProgress()
        progress.state = TimerState.allCases.randomElement(using: &generator) ?? .idle
        progress.version = Int64.random(in: 1...ImportedTimer.mostVersions, using: &generator)
        progress.updatedAt = 1_700_000_000_000 + Int64.random(in: 0...1_000_000, using: &generator)
        progress.fireCount = generator.chance(oneIn: 2) ? 0 : Int64.random(in: 1...1000, using: &generator)
        progress.lastFiredAt = progress.fireCount == 0 ? 0 : progress.updatedAt
        progress.firesSinceActivation = Int64.random(in: 0...progress.fireCount, using: &generator)
        progress.missedCount = generator.chance(oneIn: 2) ? 0 : Int64.random(in: 1...1000, using: &generator)
        if rules.schedule.kind == .watchdog && generator.chance(oneIn: 2) { progress.flags.insert(.stalled) }
        if generator.chance(oneIn: 3) { progress.flags.insert(.moved) }
        let near = Int64.random(in: 0...1_000_000, using: &generator)
        if rules.grace != nil, progress.isPlanned, generator.chance(oneIn: 2) { progress.flags.insert(.awaiting) }
        if rules.schedule.keepsLocalTime { progress.flags.insert(.ownGrid) }
        switch TimerArrival.form(progress, rules) {
        case .none: break
        case .left: progress.due = near * 1000 + 7
        case .ahead: progress.due = now.milliseconds(on: .suspending) + near - 500_000
        case .at:
            progress.due =
                now.milliseconds(on: progress.state.hasEnded ? .continuous : progress.dueClock(rules.clock)) + near
        }
        return progress
    }

    @Test(arguments: 0..<300 as Range<UInt64>)
    func `a timer is read as it was written`(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var rules = TimerRules.random(&generator, wall: 1_700_000_000_000)
        if generator.chance(oneIn: 6) {
            let cron = try CronSchedule(Array("0 3 * * *".utf8), zone: Array("UTC".utf8), from: nil)
            rules = TimerRules(.expecting(.cron(cron), grace: 600_000))
        }
        // A body can have a mode for repeating timers only.
        if rules.schedule.kind != .repeating { rules.mode = .fixedRate }
        var view = TimerView()
        view.definition = definition("t", rules, labels: [("k", "v\u{fc}")], payload: Array("[1,2.50]".utf8))
        view.progress = Self.progress(rules, &generator)
        if rules.schedule.kind == .watchdog {
            var kicks = KickProgress()
            kicks.kickCount = generator.chance(oneIn: 3) ? 0 : 3
            kicks.silentSince = 1_700_000_000_001
            if view.progress.flags.contains(.stalled) { kicks.stalledSince = 4_000_000 }
            if rules.grace != nil, view.progress.state == .running, !view.progress.flags.contains(.awaiting) {
                kicks.graceFrom = 1_700_000_000_002
                kicks.sharedGrace = 2
            }
            view.kicks = kicks
        }
        view.now = Self.now
        var json = JSONWriter()
        ExportLine.write(view, isHeld: false, isAgain: true, showsSecrets: true, &json)
        guard case .timer(let timer) = try read(json.bytes) else {
            Issue.record("the line is no timer's")
            return
        }
        #expect(timer.id == Array("t".utf8) && timer.isAgain)
        #expect(timer.definition == view.definition, "but for the instant of its making")
        var expected = TimerArrival(view.progress, view.kicks, rules, createdAt: 0, at: Self.now)
        // The instants on the exporting server's clocks are not in the line.
        expected.progress.due = 0
        expected.kicks?.stalledSince = 0
        #expect(timer.arrival == expected)
    }

    /// The line of a running cron timer by a calendar.
    private static func line(_ rule: CalendarRule) throws -> (definition: [UInt8], line: [UInt8]) {
        let cron = try CronSchedule(Array("0 3,5 * * *".utf8), zone: Array("UTC".utf8), from: nil)
        var rules = TimerRules(.cron(cron))
        rules.calendar = rule
        var view = TimerView()
        view.definition = definition("t", rules)
        view.progress.version = 9
        view.progress.state = .running
        view.progress.due = 1_700_000_000_000
        view.now = now
        var json = JSONWriter()
        ExportLine.write(view, isHeld: false, isAgain: false, showsSecrets: true, &json)
        return (view.definition, json.bytes)
    }

    @Test func `the spent instants of a schedule come along`() throws {
        var rule = CalendarRule(try #require(CalendarName("office".utf8)), onClosed: .nextDay)
        rule.spent = try #require(SpentInstants(bounds: [1_700_000_000_000, 1_700_000_000_001, 1_700_000_000_002]))
        let (definition, line) = try Self.line(rule)
        guard case .timer(let timer) = try read(line) else {
            Issue.record("the line is no timer's")
            return
        }
        #expect(timer.definition == definition)
    }

    @Test(arguments: [
        (ClosedPolicy.skip, #"["2026-01-01T00:00:00Z"]"#),
        (.nextDay, #"["2026-01-01T00:00:00Z","2026-01-02T00:00:00Z"]"#),
        (.nextDay, #"["2026-01-02T00:00:00Z","2026-01-01T00:00:00Z","2026-01-03T00:00:00Z"]"#),
        (.nextDay, "7"),
    ])
    func `spent instants that can't be are refused`(_ policy: ClosedPolicy, _ bounds: String) throws {
        let (_, line) = try Self.line(CalendarRule(try #require(CalendarName("office".utf8)), onClosed: policy))
        let text = String(decoding: line, as: UTF8.self)
        let changed = text.replacing(#""state":"running""#, with: #""state":"running","unspent":\#(bounds)"#)
        #expect(changed != text)
        #expect {
            _ = try read(Array(changed.utf8))
        } throws: { error in
            (error as? Problem)?.pointer == "/state/unspent"
        }
    }

    @Test func `a timer whose deliveries follow comes idle, a version below`() throws {
        var view = TimerView()
        view.definition = definition("t", TimerRules(.after(1000)))
        view.progress.version = 9
        view.progress.state = .running
        view.progress.due = 5_001_000
        view.now = Self.now
        var json = JSONWriter()
        ExportLine.write(view, isHeld: true, isAgain: false, showsSecrets: true, &json)
        guard case .timer(let timer) = try read(json.bytes) else {
            Issue.record("the line is no timer's")
            return
        }
        #expect(timer.arrival.progress.state == .idle && timer.arrival.progress.version == 8)
        #expect(timer.arrival.due == .none && !timer.isAgain)
    }

    /// The line of a delivery whose event has further members.
    private static func delivery(_ more: String) -> [UInt8] {
        let at = #""2026-02-03T04:05:06.789Z""#
        let event =
            #"{"id":"1898231250945671168","type":"fired","timer":"t","at":\#(at),"version":40,"labels":{"a":"b"},"#
            + #""payload":null,"scheduledAt":\#(at),"latenessUs":5,"fire":1,"missed":0,"nextFireAt":null,"#
            + #""reason":"manual"\#(more)}"#
        return Array(#"{"delivery":{"state":"pending","attempts":0,"createdAt":\#(at)},"event":\#(event)}"#.utf8)
    }

    @Test func `the event of a delivery brings its client and its trace`() throws {
        let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        let line = Self.delivery(#","by":"token","traceparent":"\#(parent)""#)
        guard case .delivery(let delivery) = try read(line), case .delivery(let plain) = try read(Self.delivery(""))
        else {
            Issue.record("the line is no delivery's")
            return
        }
        let trace = Definition.trace(delivery.definition.span)
        #expect(delivery.actor == .token && trace?.parent == parent)
        let none = Definition.trace(plain.definition.span)
        #expect(plain.actor == nil && none == nil)
    }

    @Test(arguments: [#","by":"a b""#, #","by":7"#, #","traceparent":"00-x""#])
    func `a client or a trace that can't be is refused`(_ more: String) {
        #expect(throws: Problem.self) { try read(Self.delivery(more)) }
    }

    @Test(arguments: ["calendars", "namespace", "idempotencyKey", "x"])
    func `lines of other types are refused by their name`(_ name: String) {
        #expect {
            _ = try read(Array("{\"\(name)\": {}}".utf8))
        } throws: { error in
            (error as? Problem)?.detail == "this server takes no lines of type `\(name)`"
        }
    }

    @Test func `the end tells how many lines came before`() throws {
        var json = JSONWriter()
        ExportLine.writeEnd(lines: 12, &json)
        guard case .end(let lines) = try read(json.bytes) else {
            Issue.record("the line is no end")
            return
        }
        #expect(lines == 12)
    }
}
