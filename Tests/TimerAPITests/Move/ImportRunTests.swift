import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerAPI
@testable import TimerService

/// Imports of one part, step by step.
struct ImportRunTests {
    private let service: TimerService
    private static let export = "26938f6b1dd34b7a9fcb6e5ccd94e28b"

    init() throws {
        service = try TimerService(store: MemoryLogStore(), configuration: EngineConfiguration()) { _ in }
    }

    private func run(timers: Int) throws -> ImportRun {
        let at = "2026-11-25T19:11:51.903Z"
        var lines = [
            #"{"export":"\#(Self.export)","format":1,"eventId":"1928047231813818454","at":"\#(at)","drained":true,"secrets":false,"versionFloor":0,"server":"0.1.0"}"#
        ]
        for number in 0..<timers {
            lines.append(
                #"{"timer":{"id":"t\#(number)","after":"1h"},"state":{"state":"running","version":1,"createdAt":"\#(at)","updatedAt":"\#(at)","dueAt":"2026-11-25T20:11:51.904Z"}}"#
            )
        }
        let target = try Target(Array("/v1/import?export=\(Self.export)&part=0".utf8))
        let body = Array(lines.joined(separator: "\n").utf8)
        return try ImportRun(
            ImportRequest(target, body, siphash: service.siphash), siphash: service.siphash, zones: service.zones)
    }

    /// Takes a step of `run`. Returns whether it is done, or refused.
    private func step(_ run: ImportRun) throws -> Bool {
        run.prepare()
        return try service.engine.turn { (turn: borrowing Turn) -> Result<Bool, ServiceError> in
            do throws(ServiceError) { return .success(try run.step(turn)) } catch { return .failure(error) }
        }.get()
    }

    @Test func `a timer keeps its version, while new ones start above those that were deleted elsewhere`() throws {
        let server = try WholeServer()
        let at = "2026-11-25T19:11:51.903Z"
        let head =
            #"{"export":"\#(Self.export)","format":1,"eventId":"1928047231813818454","at":"\#(at)","drained":true,"#
            + #""secrets":false,"versionFloor":50,"server":"0.1.0"}"#
        let timer =
            #"{"timer":{"id":"t","after":"1h"},"state":{"state":"running","version":3,"createdAt":"\#(at)","#
            + #""updatedAt":"\#(at)","dueAt":"2026-11-25T20:11:51.904Z"}}"#
        for (part, lines) in [[head, timer], [timer, #"{"end":true,"lines":3}"#]].enumerated() {
            let target = "/v1/import?export=\(Self.export)&part=\(part)"
            let answer = try server.ask(
                "POST", target, lines.joined(separator: "\n"), type: "application/x-ndjson")
            #expect(answer.status == 200, "\(answer.text)")
            // A line that comes again with the same version changes nothing of it.
            #expect(try server.timer("t")["version"] == "3")
            #expect(try server.make(#"{"id":"new\#(part)","after":"1h"}"#)["version"] == "51")
        }
        #expect(try server.ask("DELETE", "/v1/timers/t").status == 204)
        #expect(try server.make(#"{"id":"t","after":"1h"}"#)["version"] == "51")
    }

    @Test func `a part that another request has begun to import meanwhile is in progress, not in conflict`() throws {
        let (first, second) = (try run(timers: 3), try run(timers: 3))
        #expect(try !step(second))
        while try !step(first) {}
        #expect(first.problem == nil && first.hasChanged)
        #expect(try step(second))
        #expect(second.problem?.kind == .idempotencyInProgress && !second.hasChanged)
    }
}
