import TestSupport
import Testing
import TimerCore

@testable import TimerAPI

/// POSTs with an `Idempotency-Key`, and their repeats.
@Suite(.serialized) struct IdempotencyKeyTests {
    private let server: WholeServer

    init() throws { server = try WholeServer() }

    private func post(
        _ path: String, _ body: String? = nil, key: String = "k", type: String = "application/json"
    ) throws -> RawClient.Answer {
        try server.ask("POST", path, body, type: type, headers: "Idempotency-Key: \(key)\r\n")
    }

    /// Sends a request twice: the repeat must have the first one's answer, and change nothing.
    private func twice(_ path: String, _ body: String? = nil) throws -> RawClient.Answer {
        let first = try post(path, body)
        #expect((200..<300).contains(first.status) && first.header("idempotency-replayed") == nil, "\(first.text)")
        try expectReplay(of: first, path, body)
        return first
    }

    private func expectReplay(of first: RawClient.Answer, _ path: String, _ body: String? = nil) throws {
        let head = server.head
        let again = try post(path, body)
        #expect(again.header("idempotency-replayed") == "true", "\(path)")
        #expect(again.status == first.status && again.text == first.text, "\(path)")
        for name in ["location", "etag", "content-type", "event-id"] {
            #expect(again.header(name) == first.header(name), "\(path): \(name)")
        }
        #expect(server.head == head, "\(path)")
    }

    @Test func `a create is done once`() throws {
        _ = try twice("/v1/timers", #"{"after":"1h"}"#)
        #expect(try server.ask("GET", "/v1/timers").elements("timers").count == 1)
    }

    @Test func `a command is done once, whatever became of the timer`() throws {
        try server.make("t", in: .running)
        let first = try twice("/v1/timers/t/suspend")
        try server.command("t", "resume")
        try expectReplay(of: first, "/v1/timers/t/suspend")
        #expect(try server.types("t") == ["created", "activated", "suspended", "resumed"])
        #expect(try server.ask("DELETE", "/v1/timers/t").status == 204)
        try expectReplay(of: first, "/v1/timers/t/suspend")
    }

    @Test func `a bulk command is done once`() throws {
        try server.make("t", in: .running)
        let first = try twice("/v1/timers/bulk/suspend", #"{"states":["running"]}"#)
        #expect(first.text == #"{"matched":1,"changed":1,"skipped":0}"#)
    }

    @Test func `a drain is done once, whatever came after it`() throws {
        let first = try twice("/v1/drain")
        #expect(try post("/v1/drain", "{}").verdict == "422 idempotency-mismatch")
        // A server that is drained takes another one.
        #expect(try post("/v1/drain", key: "other").header("idempotency-replayed") == nil)
        #expect(try server.ask("DELETE", "/v1/drain").status == 200)
        try expectReplay(of: first, "/v1/drain")
        #expect(try server.ask("POST", "/v1/timers", #"{"after":"1h"}"#).status == 201)
    }

    @Test func `a part of an import is done once`() throws {
        let export = "5f1c8a0e6b7d4c2f9a3e1d0c8b7a6f5e"
        let lines = "{\"export\":\"\(export)\",\"format\":1,\"drained\":true}\n{\"end\":true,\"lines\":1}\n"
        let path = "/v1/import?export=\(export)&part=0"
        let first = try post(path, lines, type: "application/x-ndjson")
        #expect(first["applied"] == "true", "\(first.text)")
        let again = try post(path, lines, type: "application/x-ndjson")
        #expect(again.header("idempotency-replayed") == "true" && again.text == first.text)
        #expect(try post(path, lines, key: "other", type: "application/x-ndjson")["applied"] == "false")
    }

    @Test func `a batch is done once, and repeats its results in brief`() throws {
        let lines = "{\"after\":\"1h\"}\n{\"after\":\"nonsense\"}\n"
        let first = try post("/v1/timers/batch", lines, type: "application/x-ndjson")
        let id = try #require(first.lines.first?["timer/id"])
        let again = try post("/v1/timers/batch", lines, type: "application/x-ndjson")
        #expect(again.header("idempotency-replayed") == "true")
        #expect(again.lines.first?.description == #"{"status":201,"id":"\#(id)","version":1}"#)
        #expect(again.lines.map { $0["status"] } == ["201", "400"])
        #expect(try server.ask("GET", "/v1/timers").elements("timers").count == 1)
    }

    @Test func `an array is repeated as one`() throws {
        let elements =
            #"[{"apply":{"id":"t","after":"1h"}},{"apply":{"id":"t","after":"60m"}},{"command":"kick","id":"u"}]"#
        let first = try post("/v1/timers/batch?results=brief", elements)
        let again = try post("/v1/timers/batch?results=brief", elements)
        #expect(again.header("idempotency-replayed") == "true" && again.header("content-type") == "application/json")
        let (results, repeated) = (first.elements(), again.elements())
        #expect(results.map { $0["status"] } == ["201", "200", "404"])
        #expect(repeated.map { $0["status"] } == ["201", "200", "404"])
        #expect(repeated.first?.description == results.first?.description)
    }

    @Test func `other bytes under a key are a mismatch`() throws {
        _ = try post("/v1/timers", #"{"id":"t","after":"1h"}"#)
        let head = server.head
        for (path, body) in [
            ("/v1/timers", #"{"id":"t","after":"2h"}"#), ("/v1/timers", #"{"id":"t",  "after":"1h"}"#),
            ("/v1/timers?x=1", #"{"id":"t","after":"1h"}"#), ("/v1/timers/t/reschedule", #"{"id":"t","after":"1h"}"#),
        ] {
            #expect(try post(path, body).verdict == "422 idempotency-mismatch", "\(path) \(body)")
        }
        #expect(server.head == head)
    }

    @Test func `a preview keeps no key`() throws {
        let head = server.head
        for body in [#"{"after":"1h"}"#, #"{"after":"2h"}"#] {
            let answer = try post("/v1/schedules/preview", body)
            #expect(answer.status == 200 && answer.header("idempotency-replayed") == nil, "\(answer.text)")
        }
        #expect(server.head == head)
        _ = try twice("/v1/timers", #"{"after":"1h"}"#)
    }

    @Test func `a refusal frees the key`() throws {
        try server.make("t", in: .running)
        let rows: [(path: String, body: String?, verdict: String)] = [
            ("/v1/timers", #"{"after":"x"}"#, "400 invalid-schedule /after"),
            ("/v1/timers", #"{"id":"t","after":"1h"}"#, "409 timer-exists"),
            ("/v1/timers/none/suspend", nil, "404 not-found"), ("/v1/timers/t/resume", nil, "409 illegal-transition"),
        ]
        for (path, body, verdict) in rows {
            #expect(try post(path, body).verdict == verdict, "\(path)")
        }
        #expect(try post("/v1/timers", #"{"after":"1h"}"#).status == 201)
    }

    @Test func `a key is 1 to 128 visible ASCII characters`() throws {
        let head = server.head
        for key in [String(repeating: "k", count: 129), "", "a b", "é"] {
            for path in ["/v1/timers", "/v1/schedules/preview", "/v1/drain"] {
                let answer = try post(path, #"{"after":"1h"}"#, key: key)
                #expect(
                    answer.verdict == "400 invalid-request" && answer.text.contains("visible ASCII"), "\(path) \(key)")
            }
        }
        #expect(server.head == head)
        let longest = String(repeating: "!", count: 128)
        #expect(try post("/v1/timers", #"{"after":"1h"}"#, key: longest).status == 201)
    }
}
