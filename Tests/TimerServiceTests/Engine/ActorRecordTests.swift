import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

/// The events of a step name the client of the step's request, and its timers keep the request's trace.
struct ActorRecordTests {
    private static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    /// Takes one step of a request.
    private func step(
        _ rig: Rig, by actor: Actor? = .token, tracing trace: [UInt8] = [],
        _ body: (borrowing Turn) throws(ServiceError) -> Void
    ) {
        _ = rig.engine.turn { turn in
            turn.step(by: actor, tracing: trace) {
                do throws(ServiceError) { try body(turn) } catch { Issue.record("\(error)") }
                return true
            }
        }
    }

    private func create(_ id: String, _ rig: Rig, _ turn: borrowing Turn) throws(ServiceError) {
        var bytes = definition(id, TimerRules(.every(1000, first: .period)))
        _ = try turn.create(rig.key(id), definition: &bytes)
    }

    /// The events of the log: each with its actor and its `traceparent`.
    private func events(_ rig: Rig) throws -> [String] {
        var events: [String] = []
        for row in try rows(of: rig.store) {
            try BatchRows.read(row) { record in
                guard case .event(let type, _, _) = record.content else { return true }
                let actor = String(decoding: row.data[record.actor], as: UTF8.self)
                let trace = Definition.trace(row.data.span.extracting(record.definition))
                events.append("\(type.name) \(actor) \(trace?.parent ?? "")")
                return true
            }
        }
        return events
    }

    @Test func `events that a request made name its client, others do not`() throws {
        let rig = try Rig()
        step(rig) { turn throws(ServiceError) in try create("a", rig, turn) }
        step(rig, by: nil) { turn throws(ServiceError) in _ = try turn.apply(.suspend, rig.key("a"), if: .none) }
        step(rig, by: Actor(Array("key".utf8))) { turn throws(ServiceError) in
            _ = try turn.apply(.resume, rig.key("a"), if: .none)
        }
        rig.time.pass(milliseconds: 1000)
        rig.fire()
        step(rig) { turn throws(ServiceError) in try turn.delete(rig.key("a"), if: .none) }
        try rig.settle()
        #expect(
            try events(rig) == [
                "created token ", "activated token ", "suspended  ", "resumed key ", "fired  ", "deleted token ",
            ])
        rig.stop()
    }

    @Test func `a timer keeps the trace of its request, after a fold too`() throws {
        let rig = try Rig()
        let trace = try #require(TraceContext(parent: Array(Self.parent.utf8)[...], state: Array("a=1".utf8)))
        step(rig, by: nil, tracing: trace.kept) { turn throws(ServiceError) in try create("a", rig, turn) }
        step(rig, by: nil) { turn throws(ServiceError) in try create("b", rig, turn) }
        step(rig, by: nil) { turn throws(ServiceError) in _ = try turn.apply(.suspend, rig.key("a"), if: .none) }
        try rig.expectFoldIsLive()
        #expect(
            try events(rig) == [
                "created  \(Self.parent)", "activated  \(Self.parent)", "created  ", "activated  ",
                "suspended  \(Self.parent)",
            ])
        rig.stop()
    }

    @Test func `a drain names its client, also once it is written again`() throws {
        let rig = try Rig()
        step(rig) { turn throws(ServiceError) in try turn.setDrained(true) }
        rig.locked { $0.carryMove() }
        // The end of a turn calls the committer.
        _ = rig.engine.turn { turn in turn.head }
        try rig.settle()
        let drains = try rig.records().filter { $0.content == .drain(isDrained: true, by: .token) }
        #expect(drains.count == 2)
        rig.stop()
    }
}
