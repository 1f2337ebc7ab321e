import TestSupport
import Testing
import TimerCore

@testable import TimerAPI

/// PUT and DELETE /v1/timers/{id}.
@Suite(.serialized) struct PutTests {
    private let server: WholeServer

    init() throws { server = try WholeServer() }

    private func put(_ body: String, as id: String = "t", headers: String = "") throws -> RawClient.Answer {
        try server.ask("PUT", "/v1/timers/\(id)", body, headers: headers)
    }

    private func delete(_ id: String = "t", _ body: String? = nil, headers: String = "") throws -> RawClient.Answer {
        try server.ask("DELETE", "/v1/timers/\(id)", body, headers: headers)
    }

    @Test func `a timer that is not there is created`() throws {
        let made = try put(#"{"id":"t","after":"1h"}"#)
        #expect(made.status == 201 && made.header("location") == "/v1/timers/t" && made.header("etag") == "\"v1\"")
        #expect(made["state"] == "running" && made["id"] == "t")
        #expect(try server.types("t") == ["created", "activated"])
    }

    @Test(arguments: TimerState.allCases)
    func `a timer in any state is replaced and starts again`(state: TimerState) throws {
        let before = try server.make("t", in: state, #""labels":{"old":"x"}"#)
        let after = try put(#"{"every":"2h"}"#)
        #expect(after.status == 200 && after.header("etag") == "\"v\(after["version"] ?? "")\"")
        #expect(after["state"] == "running" && after["kind"] == "repeating" && after["labels"] == "{}")
        #expect(after["after"] == nil && after["fireCount"] == before["fireCount"])
        let events = try server.events("t").suffix(2)
        #expect(events.map { $0["type"] } == ["updated", "activated"])
        #expect(events.allSatisfy { $0["version"] == after["version"] } && after["version"] != before["version"])
    }

    @Test func `an equal body starts again, a manual one is idle`() throws {
        _ = try put(#"{"after":"1h"}"#)
        try server.command("t", "suspend")
        server.time.pass(milliseconds: 1000)
        let again = try put(#"{"after":"1h"}"#)
        #expect(again["state"] == "running" && again["remaining"] == "1h" && again["version"] == "3")
        let manual = try put(#"{"after":"1h","start":"manual"}"#)
        #expect(manual["state"] == "idle" && manual["nextFireAt"] == "null")
        #expect(try server.types("t").last == "updated")
    }

    @Test func `a replacement that can't be changes nothing`() throws {
        try server.make("t", in: .suspended)
        let head = server.head
        for (body, verdict) in [
            (#"{"after":"nonsense"}"#, "400 invalid-schedule /after"), ("{}", "400 invalid-schedule the body"),
            (#"{"id":"other","after":"1h"}"#, "400 invalid-request /id"), ("", "400 invalid-request"),
            (#"{"after":"1h","until":"2001-01-01T00:00:00Z"}"#, "400 invalid-schedule /until"),
        ] {
            #expect(try put(body).verdict == verdict, "\(body)")
            #expect(try put(body, as: "none").verdict == verdict, "\(body)")
        }
        #expect(server.head == head)
    }

    @Test func `a path that is no id makes no timer`() throws {
        let head = server.head
        for id in [String(repeating: "x", count: 129), "a%20b", "a!b", "%C3%A9"] {
            #expect(try put(#"{"after":"1h"}"#, as: id).verdict == "400 invalid-request", "\(id)")
            #expect(try server.ask("GET", "/v1/timers/\(id)").verdict == "404 not-found", "\(id)")
        }
        #expect(try put(#"{"after":"1h"}"#, as: "batch").verdict == "405 method-not-allowed")
        #expect(try put(#"{"after":"1h"}"#, as: "bulk").verdict == "404 not-found")
        #expect(server.head == head)
    }

    @Test func `conditions are judged against the version, or that there is none`() throws {
        let rows = [
            ("If-Match: *", "412 version-mismatch"), ("If-Match: \"v1\"", "412 version-mismatch"),
            ("If-None-Match: \"v1\"", "201"), ("If-None-Match: *", "412 version-mismatch"),
            ("If-None-Match: \"v1\"", "412 version-mismatch"), ("If-None-Match: W/\"v1\"", "412 version-mismatch"),
            ("If-None-Match: \"v0\", \"v1\"", "412 version-mismatch"), ("If-None-Match: \"v0\"", "200"),
            ("If-Match: \"v2\"", "200"), ("If-Match: \"v2\"", "412 version-mismatch"),
            ("If-Match: W/\"v3\"", "412 version-mismatch"), ("If-Match: *", "200"),
        ]
        for (index, (header, verdict)) in rows.enumerated() {
            let head = server.head
            let answer = try put(#"{"after":"1h"}"#, headers: header + "\r\n")
            #expect(answer.verdict == verdict, "row \(index): \(header)")
            #expect((server.head == head) == (answer.status == 412), "row \(index): \(header)")
        }
        _ = try delete()
        #expect(try put(#"{"after":"1h"}"#, headers: "If-None-Match: *\r\n").status == 201)
    }

    @Test func `versions of an id never repeat`() throws {
        var last = 0
        for _ in 0..<3 {
            let made = try put(#"{"after":"1h"}"#)
            let version = try #require(made["version"].flatMap { Int($0) })
            #expect(made.status == 201 && version > last && made["fireCount"] == "0")
            last = try #require(try server.command("t", "suspend")["version"].flatMap { Int($0) })
            #expect(try delete().status == 204)
        }
    }

    @Test(arguments: TimerState.allCases)
    func `a timer in any state is deleted`(state: TimerState) throws {
        let before = try server.make("t", in: state)
        let gone = try delete()
        #expect(gone.status == 204 && gone.body == [] && gone.header("content-type") == nil)
        #expect(try server.ask("GET", "/v1/timers/t").verdict == "404 not-found")
        #expect(try server.ask("POST", "/v1/timers/t/activate").verdict == "404 not-found")
        let again = try delete()
        #expect(again.verdict == "404 not-found" && again["timer"] == "t")
        #expect(try server.ask("GET", "/v1/timers")["timers"] == "[]")
        let last = try #require(try server.events("t").last)
        #expect(last["type"] == "deleted" && last["reason"] == "request" && last["version"] != before["version"])
    }

    @Test func `a deletion is judged by its condition and takes no body`() throws {
        try server.make("t", in: .running)
        let head = server.head
        let late = try delete(headers: "If-Match: \"v0\"\r\n")
        #expect(late.verdict == "412 version-mismatch" && late["timer"] == "t")
        #expect(try delete("t", #"{"a":1}"#).verdict == "400 unknown-field /a")
        #expect(server.head == head)
        #expect(try delete(headers: "If-Match: \"v1\"\r\n").status == 204)
        #expect(try delete(headers: "If-Match: *\r\n").verdict == "404 not-found")
    }

    @Test(arguments: [TimerState.cancelled, .completed])
    func `an ended timer is deleted once its retain has passed`(state: TimerState) throws {
        try server.make("t", in: state)
        #expect(try server.ask("PATCH", "/v1/timers/t", #"{"retain":"0s"}"#).status == 200)
        let stream = try server.ask("GET", "/v1/timers/t/events?since=0&types=deleted")
        #expect(stream.lines.map { $0["reason"] } == ["expired"])
        #expect(try server.ask("GET", "/v1/timers/t").verdict == "404 not-found")
    }
}
