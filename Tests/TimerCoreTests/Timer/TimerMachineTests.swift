import Foundation
import TestSupport
import Testing

@testable import TimerCore

/// The contract's table, written out a second time: rows by command, columns by state.
private let contract: [(command: TimerCommand, title: String, cells: [String])] = [
    (
        .activate, "`activate`",
        ["running", "409", "409", "409; running if restartable", "409; running if restartable"]
    ),
    (.suspend, "`suspend`", ["409", "suspended", "409", "409", "409"]),
    (.resume, "`resume`", ["409", "409", "running", "409", "409"]),
    (.cancel, "`cancel`", ["409", "cancelled", "cancelled", "409", "409"]),
    (
        .kick, "`kick` (watchdog)",
        ["409", "running, full period anew, health ok", "200, nothing changes", "409", "409"]
    ),
    (.fire, "`fire`", ["409", "fires now, schedule unchanged; a one-shot completes", "409", "409", "409"]),
    (
        .reschedule, "`reschedule` `{\"after\": D}` or `{\"at\": T}`",
        [
            "409", "next due moves there; an `every` grid goes on from it", "remaining or due moves", "409", "409",
        ]
    ),
]

private let states: [TimerState] = [.idle, .running, .suspended, .cancelled, .completed]

/// One cell of the table.
struct TableCell: Sendable, CustomTestStringConvertible {
    var command: TimerCommand
    var state: TimerState
    var restartable: Bool
    var text: String

    static let all = contract.flatMap { row in
        states.indices.flatMap { column in
            [false, true].map {
                TableCell(command: row.command, state: states[column], restartable: $0, text: row.cells[column])
            }
        }
    }

    var isLegal: Bool { text == "409; running if restartable" ? restartable : text != "409" }

    var testDescription: String { "\(command.name) in \(state.name)\(restartable ? ", restartable" : "")" }

    /// The state after a legal command on a timer of `schedule`.
    func next(_ schedule: Schedule) -> TimerState {
        switch command {
        case .activate, .resume: .running
        case .suspend: .suspended
        case .cancel: .cancelled
        case .fire: schedule.kind == .oneShot ? .completed : .running
        case .kick, .reschedule: state
        }
    }

    /// The events of a legal command on a timer of `schedule` that runs since the bench's start.
    func events(_ schedule: Schedule) -> [String] {
        switch command {
        case .activate: ["activated"]
        case .suspend: ["suspended"]
        case .resume: ["resumed"]
        case .cancel: ["cancelled"]
        case .kick: []
        case .fire: schedule.kind == .oneShot ? ["fired manual 100", "completed"] : ["fired manual 100"]
        case .reschedule: ["rescheduled"]
        }
    }
}

extension Bench {
    /// Makes a timer of `rules` and brings it into `state`, 100 ms after the start.
    func make(_ rules: TimerRules, in state: TimerState) throws(TimerRefusal) {
        var rules = rules
        if state == .idle { rules.start = .manual }
        if state == .completed { rules.maxFires = 1 }
        try create(rules)
        pass(100)
        switch state {
        case .idle, .running: break
        case .suspended: try apply(.suspend)
        case .cancelled: try apply(.cancel)
        case .completed: try apply(.fire)
        }
    }
}

struct TimerMachineTests {
    @Test(arguments: TableCell.all)
    func `a command is legal where the contract says so`(cell: TableCell) {
        let allowed = TimerMachine.allows(
            cell.command, in: cell.state, restartable: cell.restartable, isWatchdog: true)
        #expect(allowed == cell.isLegal)
        let without = TimerMachine.allows(
            cell.command, in: cell.state, restartable: cell.restartable, isWatchdog: false)
        #expect(without == (cell.isLegal && cell.command != .kick))
    }

    @Test(arguments: TableCell.all, [Schedule.after(1000), .every(1000, first: .period)])
    func `a command does to a timer what the contract says`(cell: TableCell, schedule: Schedule) throws {
        let bench = Bench()
        try bench.make(rules(schedule) { $0.restartable = cell.restartable }, in: cell.state)
        let before = try bench.progress()
        let target: RescheduleTarget? = cell.command == .reschedule ? .after(5000) : nil
        let refusal: TimerRefusal? =
            cell.command == .kick
            ? .notAWatchdog(state: cell.state, restartable: cell.restartable)
            : cell.isLegal
                ? nil : .illegalTransition(cell.command, state: cell.state, restartable: cell.restartable)
        do throws(TimerRefusal) {
            let events = try bench.apply(cell.command, target)
            #expect(refusal == nil)
            #expect(events == cell.events(schedule))
            let after = try bench.progress()
            #expect(after.state == cell.next(schedule))
            #expect(after.version == before.version + 1)
            #expect(after.updatedAt == Bench.wall(100))
        } catch {
            #expect(error == refusal)
            #expect(bench.effects == [])
            #expect(try bench.progress() == before)
        }
        for state in states {
            let isThere = try bench.progress().state == state
            #expect(bench.scheduler.count(in: state) == (isThere ? 1 : 0))
        }
    }

    @Test(arguments: states, [false, true])
    func `an unequal version refuses a legal command and changes nothing`(state: TimerState, restartable: Bool) throws {
        for command in TimerCommand.allCases {
            let bench = Bench()
            try bench.make(rules(.every(1000, first: .period)) { $0.restartable = restartable }, in: state)
            guard TimerMachine.allows(command, in: state, restartable: restartable, isWatchdog: false) else { continue }
            let before = try bench.progress()
            let target: RescheduleTarget? = command == .reschedule ? .after(1) : nil
            #expect(throws: TimerRefusal.versionMismatch(current: before.version)) {
                try bench.apply(command, target, if: .oneOf([before.version - 1, before.version + 1]))
            }
            #expect(try bench.progress() == before)
            #expect(bench.effects == [])
            try bench.apply(command, target, if: .oneOf([0, before.version]))
        }
    }

    @Test(arguments: states)
    func `delete is legal in every state`(state: TimerState) throws {
        let bench = Bench()
        try bench.make(rules(.after(1000)), in: state)
        #expect(try bench.delete() == ["deleted request"])
        #expect(!bench.exists() && bench.scheduler.count == 0 && bench.scheduler.count(in: state) == 0)
        #expect(bench.advance(100_000_000) == [])
    }

    @Test func `restart is said of nothing but activate`() {
        for command in TimerCommand.allCases where command != .activate {
            for state in states { #expect(TimerMachine.transition(command, in: state) != .restart) }
        }
    }
}

/// The table and the diagram in the documents.
struct TransitionDocumentTests {
    private static func lines(_ name: String) throws -> [String] {
        try Repository.text(of: name).components(separatedBy: "\n")
    }

    /// The lines between two marks of the README.
    private static func block(_ name: String) throws -> [String] {
        let lines = try lines("README.md")
        let begin = try #require(lines.firstIndex(of: "<!-- \(name):begin -->"))
        let end = try #require(lines.firstIndex(of: "<!-- \(name):end -->"))
        return Array(lines[(begin + 1)..<end])
    }

    @Test func `the machine words the contract's table`() {
        var expected = [
            "| command | idle | running | suspended | cancelled | completed |", "|---|---|---|---|---|---|",
        ]
        expected += contract.map { "| \($0.title) | \($0.cells.joined(separator: " | ")) |" }
        #expect(TimerMachine.markdown().components(separatedBy: "\n") == expected)
    }

    @Test func `the README shows the machine's table`() throws {
        #expect(try Self.block("transitions").joined(separator: "\n") == TimerMachine.markdown())
    }

    @Test func `the README shows the machine's diagram`() throws {
        let expected = ["```mermaid"] + TimerMachine.mermaid().components(separatedBy: "\n") + ["```"]
        #expect(try Self.block("state-machine") == expected)
    }

    @Test func `the diagram has an edge for every way a state is left`() {
        let lines = Set(TimerMachine.mermaid().components(separatedBy: "\n"))
        for edge in [
            "idle --> running: activate", "running --> suspended: suspend", "suspended --> running: resume",
            "running --> cancelled: cancel", "suspended --> cancelled: cancel",
            "cancelled --> running: activate, if restartable", "completed --> running: activate, if restartable",
            "running --> completed: last fire",
        ] { #expect(lines.contains("    " + edge)) }
        #expect(!lines.contains { $0.contains("idle --> cancelled") || $0.contains("idle --> suspended") })
    }

    @Test func `the OpenAPI document tells the contract's table`() throws {
        let lines = try Self.lines("openapi.yaml")
        let start = try #require(lines.firstIndex(of: "x-state-machine:"))
        #expect(lines[start + 1] == "  states: [\(states.map { "\($0.name)" }.joined(separator: ", "))]")
        #expect(lines[start + 2] == "  commands:")
        let rows = contract.map { row in
            let cells = zip(states, row.cells).map { "\($0.name): \"\($1)\"" }.joined(separator: ", ")
            return "    \(row.command.name): {\(cells)}"
        }
        let commands = lines[(start + 3)...].prefix { $0.hasPrefix("    ") }
        #expect(Array(commands) == rows)
    }
}
