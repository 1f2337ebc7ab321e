import Platform
import TestSupport
import Testing
import TimerCore

@testable import TimerAPI

/// The trace of a request, and its client, in the events that the request makes.
struct TraceHeaderTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"

    private static func parent(_ span: Int = 1) -> String { "00-\(trace)-000000000000000\(span)-01" }
    private static func line(_ span: Int = 1) -> String { "traceparent: \(parent(span))\r\n" }

    /// The `traceparent` of each event of a timer.
    private func traces(_ server: WholeServer, _ id: String = "t") throws -> [String?] {
        try server.events(id).map { $0["traceparent"] }
    }

    @Test func `creates, PUTs, PATCHes and batches bring the latest, other commands none`() throws {
        let server = try WholeServer()
        func ask(
            _ method: String, _ target: String, _ body: String?, _ span: Int, type: String = "application/json"
        ) throws {
            let answer = try server.ask(method, target, body, type: type, headers: Self.line(span))
            #expect((200...201).contains(answer.status) && !answer.text.contains("trace"), "\(answer.text)")
        }
        try ask("POST", "/v1/timers", #"{"id":"t","every":"1h"}"#, 1)
        try ask("PATCH", "/v1/timers/t", #"{"payload":1}"#, 2)
        try ask("PATCH", "/v1/timers/t", #"{"payload":1}"#, 3)
        try ask("POST", "/v1/timers/t/suspend", nil, 4)
        try ask("PUT", "/v1/timers/t?apply=true", #"{"every":"1h","payload":2}"#, 5)
        try ask("PUT", "/v1/timers/t", #"{"after":"1h"}"#, 6)
        #expect(try server.ask("PUT", "/v1/timers/t", #"{"after":"1h"}"#).status == 200)
        let spans = [1, 1, 2, 2, 5, 6, 6, 6, 6]
        #expect(try traces(server) == spans.map { Self.parent($0) })
        try ask("POST", "/v1/timers/batch", #"{"id":"u","after":"1h"}"# + "\n", 7, type: "application/x-ndjson")
        #expect(try traces(server, "u") == [Self.parent(7), Self.parent(7)])
    }

    @Test(arguments: [
        "traceparent: 00-x\r\n", "traceparent: \r\n", "tracestate: a=1\r\n",
        "traceparent: \(parent())\r\nTraceParent: \(parent())\r\n", "traceparent: \(parent().uppercased())\r\n",
    ])
    func `a malformed one is ignored`(lines: String) throws {
        let server = try WholeServer()
        #expect(try server.ask("POST", "/v1/timers", #"{"id":"t","after":"1h"}"#, headers: lines).status == 201)
        #expect(try traces(server) == [nil, nil])
    }

    @Test func `a dry run and an apply that changes nothing keep nothing`() throws {
        let server = try WholeServer()
        try server.make(#"{"id":"t","after":"1h"}"#)
        for query in ["apply=true", "apply=true&dryRun=true"] {
            let answer = try server.ask("PUT", "/v1/timers/t?\(query)", #"{"after":"1h"}"#, headers: Self.line())
            #expect(answer.status == 200)
            if query.contains("dryRun") { #expect(answer.text.contains(#""differs":[]"#)) }
        }
        #expect(try traces(server) == [nil, nil])
    }

    @Test func `events say that a token made them, where one is asked for`() throws {
        let open = try WholeServer()
        try open.make(#"{"id":"t","after":"1h"}"#)
        #expect(try open.events("t").map { $0["by"] } == [nil, nil])

        let server = try WholeServer {
            var settings = AccessSettings()
            settings.tokens = [Array("0123456789abcdef".utf8)]
            $0.access.publish(settings)
        }
        let token = "Authorization: Bearer 0123456789abcdef\r\n"
        let body = #"{"id":"t","every":"1s"}"#
        #expect(try server.ask("POST", "/v1/timers", body, headers: token).status == 201)
        server.time.pass(milliseconds: 1000)
        let fired = try server.ask("GET", "/v1/timers/t/wait?since=0&timeout=60s", headers: token)
        #expect(fired["reason"] == "due" && fired["by"] == nil)
        #expect(try server.ask("DELETE", "/v1/timers/t", headers: token).status == 204)
        let events = try server.ask("GET", "/v1/timers/t/events?follow=false", headers: token).lines
        #expect(events.map { $0["type"] } == ["created", "activated", "fired", "deleted"])
        #expect(events.map { $0["by"] } == ["token", "token", nil, "token"])
    }
}
