import TestSupport
import Testing
import TimerCore

@testable import TimerAPI

/// POST /v1/timers/batch: what each line does, and its result.
@Suite(.serialized) struct BatchLineTests {
    private let server: WholeServer

    init() throws { server = try WholeServer() }

    private func batch(
        _ lines: [String], _ query: String = "", type: String = "application/x-ndjson"
    ) throws -> RawClient.Answer {
        try server.ask("POST", "/v1/timers/batch" + query, lines.map { $0 + "\n" }.joined(), type: type)
    }

    private func statuses(_ answer: RawClient.Answer) -> [String?] { answer.lines.map { $0["status"] } }

    @Test func `lines apply in order, and see what earlier ones did`() throws {
        let answer = try batch([
            #"{"id":"t","after":"1h"}"#, #"{"command":"suspend","id":"t"}"#, #"{"command":"suspend","id":"t"}"#,
            #"{"command":"reschedule","id":"t","after":"2h"}"#, #"{"command":"resume","id":"t"}"#,
            #"{"id":"t","after":"1h"}"#, #"{"command":"delete","id":"t"}"#, #"{"command":"cancel","id":"t"}"#,
            #"{"id":"t","every":"1h"}"#,
        ])
        #expect(answer.status == 200 && answer.header("content-type") == "application/x-ndjson")
        #expect(statuses(answer) == ["201", "200", "409", "200", "200", "409", "204", "404", "201"])
        let lines = answer.lines
        #expect(lines[0]["timer/state"] == "running" && lines[1]["timer/state"] == "suspended")
        #expect(lines[3]["timer/remaining"] == "2h" && lines[5]["problem/type"] == "/problems/timer-exists")
        #expect(lines[2]["problem/type"] == "/problems/illegal-transition" && lines[2]["problem/timer"] == "t")
        #expect(lines[2]["problem/state"] == "suspended" && lines[2]["problem/command"] == "suspend")
        #expect(try server.timer("t")["every"] == "1h")
    }

    @Test func `a bad line does not stop the others`() throws {
        let rows = [
            (#"{"after":"x"}"#, "400 invalid-schedule /after"), ("{", "400 invalid-request the body"),
            ("[]", "400 invalid-request the body"), (#"{"after":"1h"} x"#, "400 invalid-request the body"),
            (#"{"after":"1h","after":"2h"}"#, "400 invalid-request /after"),
            (#"{"after":"1h","colour":1}"#, "400 unknown-field /colour"),
            (#"{"command":"explode","id":"x"}"#, "400 invalid-request /command"),
            (#"{"command":"suspend"}"#, "400 invalid-request /id"),
            (#"{"command":"suspend","id":"x","why":1}"#, "400 unknown-field /why"),
            (#"{"command":5,"id":"x"}"#, "400 invalid-request /command"),
            (#"{"command":"suspend","id":"a b"}"#, "404 not-found"),
            (#"{"command":"reschedule","id":"x"}"#, "400 invalid-request the body"),
            (#"{"command":"suspend","id":"x","ifMatch":"\"v1\""}"#, "400 invalid-request /ifMatch"),
            (#"{"command":"suspend","id":"x","ifMatch":"W/\"v1\""}"#, "400 invalid-request /ifMatch"),
            (#"{"command":"suspend","id":"x","ifMatch":"1"}"#, "400 invalid-request /ifMatch"),
        ]
        let answer = try batch(rows.map(\.0) + [#"{"id":"t","after":"1h"}"#])
        let lines = answer.lines
        try #require(lines.count == rows.count + 1, "\(answer.text)")
        for (line, (text, verdict)) in zip(lines, rows) {
            #expect(line["problem"].flatMap { text in ShownJSON(text) }?.problem == verdict, "\(text): \(line)")
            #expect(line["status"] == String(verdict.prefix(3)), "\(text)")
        }
        #expect(lines.last?["status"] == "201")
    }

    @Test func `a first line that is no object refuses the whole`() throws {
        let head = server.head
        for (first, type) in [
            ("[]", "application/x-ndjson"), ("{", "application/x-ndjson"), ("after=1h", "application/json"),
            (#"{"after":"1h"} {"after":"1h"}"#, "application/json"), ("[] {}", "application/json"),
            ("1", "application/json"),
        ] {
            let answer = try batch([first, #"{"after":"1h"}"#], type: type)
            #expect(answer.verdict.hasPrefix("400 invalid-request"), "\(first): \(answer.text)")
            let told = first == "[] {}" ? "the array" : "one object a line"
            #expect(answer["detail"]?.contains(told) ?? false, "\(first): \(answer.text)")
        }
        #expect(server.head == head)
    }

    @Test func `an array is answered by an array`() throws {
        func send(_ text: String, _ query: String = "") throws -> RawClient.Answer {
            try server.ask("POST", "/v1/timers/batch" + query, text)
        }
        let answer = try send(
            #"[{"id":"t","after":"1h"}, {"command":"suspend","id":"t"},"# + "\n7, {\"id\":\"t\",\"after\":\"1h\"}]")
        #expect(answer.status == 200 && answer.header("content-type") == "application/json")
        let results = answer.elements()
        #expect(results.map { $0["status"] } == ["201", "200", "400", "409"])
        #expect(results[1]["timer/state"] == "suspended" && results[2]["problem/detail"]?.contains("object") ?? false)
        let brief = try send(#"[{"command":"resume","id":"t"}]"#, "?results=brief")
        #expect(brief.text == #"[{"status":200,"id":"t","version":3}]"#)
        #expect(try send("[ ]").text == "[]")
        let head = server.head
        #expect(try send(#"[{"id":"u","after":"1h"}, {"after": h}]"#).verdict == "400 invalid-request /1/after")
        let most = Array(repeating: #"{"command":"suspend","id":"none"}"#, count: APILimits.batchLines)
        let over = try send(#"[{"id":"u","after":"1h"},"# + most.joined(separator: ",") + "]")
        #expect(over.verdict == "413 too-large")
        let overLines = try batch([#"{"id":"u","after":"1h"}"#] + most)
        #expect(overLines.verdict == "413 too-large")
        #expect(server.head == head)
        #expect(try batch(most, "?results=brief").lines.count == most.count)
    }

    @Test func `lines may come as JSON, and blank ones are skipped`() throws {
        let answer = try batch(
            [#"{"id":"a","after":"1h"}"#, #"{"command":"suspend","id":"a"}"#], type: "application/json")
        #expect(statuses(answer) == ["201", "200"] && answer.header("content-type") == "application/x-ndjson")
        let body = "\n\n{\"id\":\"b\",\"after\":\"1h\"}\n\n  \n{\"id\":\"c\",\"after\":\"1h\"}"
        let loose = try server.ask("POST", "/v1/timers/batch", body, type: "application/x-ndjson")
        #expect(loose.lines.map { $0["timer/id"] } == ["b", "c"])
        #expect(
            try server.ask("POST", "/v1/timers/batch", "", type: "application/x-ndjson").verdict
                == "400 invalid-request")
        let blank = try batch(["", "  ", "\t\r"])
        #expect(blank.status == 200 && blank.body == [] && blank.header("content-type") == "application/x-ndjson")
    }

    @Test func `results may be brief`() throws {
        let lines = [#"{"id":"t","after":"1h"}"#] + Array(repeating: #"{"command":"suspend","id":"t"}"#, count: 2)
        let answer = try batch(lines, "?results=brief")
        #expect(
            answer.text.hasPrefix(
                #"{"status":201,"id":"t","version":1}"# + "\n" + #"{"status":200,"id":"t","version":2}"# + "\n"))
        #expect(answer.lines.last?["status"] == "409")
        #expect(try batch(lines, "?results=long").verdict == "400 invalid-request ?results")
        let made = try batch(Array(repeating: #"{"after":"1h"}"#, count: 20), "?results=brief").lines
        #expect(Set(made.compactMap { $0["id"] }).count == 20)
        for line in made.prefix(3) { _ = try server.timer(try #require(line["id"])) }
    }

    @Test func `a line may ask for a version`() throws {
        try server.make("t", in: .running)
        let answer = try batch([
            #"{"command":"suspend","id":"t","ifMatch":"v0"}"#, #"{"command":"suspend","id":"t","ifMatch":"v1"}"#,
        ])
        #expect(statuses(answer) == ["412", "200"])
        #expect(answer.lines[0]["problem/type"] == "/problems/version-mismatch")
    }

    @Test func `a batch may be larger than another body`() throws {
        let payload = String(repeating: "x", count: 60_000)
        let answer = try batch(
            (0..<10).map { #"{"id":"t\#($0)","after":"1h","payload":"\#(payload)"}"# }, "?results=brief")
        #expect(statuses(answer) == Array(repeating: "201", count: 10))
        #expect(try server.timer("t9")["payload"] == payload)
        let client = RawClient(port: try server.port)
        client.send(
            "POST /v1/timers/batch HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n"
                + "Content-Length: \(APILimits.batchBytes + 1)\r\n\r\n")
        #expect(client.answer()?.status == 413)
    }

    @Test func `watchdogs are kicked by lines`() throws {
        let kick = #"{"command":"kick","id":"t"}"#
        let answer = try batch([#"{"id":"t","watchdog":"1h"}"#, kick, kick])
        #expect(statuses(answer) == ["201", "200", "200"])
        #expect(answer.lines.last?["timer/kickCount"] == "2")
    }
}
