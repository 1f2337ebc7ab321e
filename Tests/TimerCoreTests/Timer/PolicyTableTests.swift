import Foundation
import TestSupport
import Testing

@testable import TimerCore

/// The tables of `docs/POLICIES.md`: what each policy does for each schedule, as it happens.
enum PolicyTable {
    /// The schedules of the tables; each is due at 1:00, the repeating ones every minute after that.
    static let schedules: [(name: String, rules: TimerRules)] = [
        ("`after: 1m`", rules(.after(60_000))),
        ("`at`", rules(.at(Bench.wall(60_000)))),
        ("`every: 1m`", rules(.every(60_000, first: .period))),
        ("`every: 1m` with `at`", rules(.every(60_000, first: .at(Bench.wall(60_000))))),
        ("`every: 1m`, `fixedDelay`", rules(.every(60_000, first: .period)) { $0.mode = .fixedDelay }),
        ("`cron: * * * * *`", rules(cron("* * * * *"))),
        ("`rrule`, each minute", rules(recurrence())),
        ("`every: 1m`, `working`", rules(.every(60_000, first: .period)) { shop(&$0, .skip, .working) }),
        ("`cron: * * * * *`, `skip`", rules(cron("* * * * *")) { shop(&$0, .skip) }),
        ("`cron: * * * * *`, `next`", rules(cron("* * * * *")) { shop(&$0, .next) }),
        ("`watchdog: 1m`", rules(.watchdog(60_000))),
    ]

    private static func cron(_ text: String) -> Schedule {
        guard let cron = try? CronSchedule(Array(text.utf8), zone: Array("UTC".utf8), from: nil) else {
            preconditionFailure("the expression is right")
        }
        return .cron(cron)
    }

    /// The calendar of the tables is closed from 1:30 to 2:30.
    private static func bench() throws -> Bench {
        let bench = Bench()
        try bench.open(["mon-sun": ["00:00-08:01:30", "08:02:30-24:00"]], name: "shop")
        return bench
    }

    private static func shop(_ rules: inout TimerRules, _ policy: ClosedPolicy, _ clock: TimerClock = .wall) {
        guard let name = try? Bench.name("shop") else { preconditionFailure("the name is right") }
        rules.calendar = CalendarRule(name, onClosed: policy)
        rules.clock = clock
    }

    /// A rule that is due every minute of the day on which the bench starts.
    private static func recurrence() -> Schedule {
        let minutes = (0..<60).map(String.init).joined(separator: ",")
        let hours = (0..<24).map(String.init).joined(separator: ",")
        let text = "FREQ=DAILY;BYHOUR=\(hours);BYMINUTE=\(minutes);BYSECOND=0"
        guard
            let schedule = try? RecurrenceSchedule(
                Array(text.utf8), zone: Array("UTC".utf8), from: Bench.wall(1000))
        else { preconditionFailure("the rule is right") }
        return .recurrence(schedule)
    }

    /// Suspends a timer at 0:30, resumes it at 3:30 and runs it up to 5:00. Returns its cell of the table.
    static func pause(_ rules: TimerRules) throws -> String {
        let bench = try bench()
        try bench.create(rules)
        bench.advance(30_000)
        try bench.apply(.suspend)
        bench.pass(180_000)
        return try follow(bench, try bench.apply(.resume), from: 210_000)
    }

    /// Stalls the server from 0:00 to 3:30, or takes it down for the suspending clock, and runs it up to 5:00. Returns
    /// the timer's cell of the table.
    static func gap(_ rules: TimerRules) throws -> String {
        let bench = try bench()
        try bench.create(rules)
        if rules.clock == .suspending {
            bench.down(210_000)
            return try follow(bench, bench.advance(), from: 210_000)
        }
        return try follow(bench, bench.stall(210_000), from: 210_000)
    }

    private static func follow(_ bench: Bench, _ first: [String], from start: Int64) throws -> String {
        var cells = words(first, at: start)
        for second in stride(from: start, to: 300_000, by: 1000) {
            cells += words(bench.advance(1000), at: second + 1000)
        }
        let missed = try bench.progress().missedCount
        if missed > 0 { cells.append("missedCount \(missed)") }
        return cells.joined(separator: ", ")
    }

    /// Returns `fired due 60000` as `1:00`, with the due instant and the number of other instants that the fire stands
    /// for where they matter.
    private static func words(_ lines: [String], at instant: Int64) -> [String] {
        lines.compactMap { line in
            let words = line.split(separator: " ")
            guard words[0] == "fired", let due = Int64(words[2]) else {
                return line == "completed" ? "completed" : nil
            }
            let others = words.count > 4 ? " and \(words[4]) others" : ""
            return due == instant ? "**\(time(instant))**" : "**\(time(instant))** for \(time(due))\(others)"
        }
    }

    private static func time(_ milliseconds: Int64) -> String {
        let seconds = milliseconds / 1000
        return "\(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60)"
    }

    static func pauses() throws -> String {
        let names = ResumePolicy.allCases.map { "`\($0.name)`" }
        return try table(["schedule"] + names, schedules) { rules in
            if rules.schedule.kind == .watchdog { return [try pause(rules), "400", "400"] }
            return try ResumePolicy.allCases.map { policy in
                var rules = rules
                rules.onResume = policy
                return try pause(rules)
            }
        }
    }

    static func gaps() throws -> String {
        let columns: [(name: String, policy: MisfirePolicy, grace: Int64?)] = [
            ("`once`", .once, nil), ("`all`", .all, nil), ("`skip`", .skip, nil),
            ("`once`, grace 10 s", .once, 10_000), ("`all`, grace 100 s", .all, 100_000),
        ]
        return try table(["schedule"] + columns.map(\.name), schedules) { rules in
            if rules.schedule.kind == .watchdog {
                return [try gap(rules)] + columns.dropFirst().map { _ in "400" }
            }
            return try columns.map { column in
                var rules = rules
                rules.misfire = column.policy
                rules.misfireGrace = column.grace
                return try gap(rules)
            }
        }
    }

    private static func table(
        _ head: [String], _ schedules: [(name: String, rules: TimerRules)], _ cells: (TimerRules) throws -> [String]
    ) throws -> String {
        var lines = ["| \(head.joined(separator: " | ")) |", "|" + String(repeating: "---|", count: head.count)]
        for schedule in schedules {
            lines.append("| \(schedule.name) | \(try cells(schedule.rules).joined(separator: " | ")) |")
        }
        return lines.joined(separator: "\n")
    }
}

struct PolicyTableTests {
    private func page() throws -> String { try Repository.text(of: "docs/POLICIES.md") }

    @Test func `the document says what a pause does under each policy`() throws {
        let table = try PolicyTable.pauses()
        #expect(try page().contains(table), "docs/POLICIES.md lacks:\n\(table)")
    }

    @Test func `the document says what a gap does under each policy`() throws {
        let table = try PolicyTable.gaps()
        #expect(try page().contains(table), "docs/POLICIES.md lacks:\n\(table)")
    }
}
