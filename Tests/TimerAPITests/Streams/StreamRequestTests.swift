import TestSupport
import Testing

/// The streams and waits that are refused, and the format in which a stream comes.
struct StreamRequestTests {
    private func server(_ body: String = #"{"after":"1h"}"#) throws -> WholeServer {
        let server = try WholeServer()
        try #require(try server.ask("PUT", "/v1/timers/t", body).status == 201)
        return server
    }

    @Test func `a parameter that makes no sense is named`() throws {
        let server = try server()
        let queries = [
            "since=x", "since=-1", "since=", "limit=0", "limit=x", "follow=maybe", "types=", "types=exploded",
            "types=fired,", "label=", "label=novalue", "colour=red",
        ]
        let waits = ["timeout=10m1ms", "timeout=x", "timeout=-1s", "timeout=30", "since=x", "colour=1"]
        let targets =
            ["/v1/events", "/v1/timers/t/events"].flatMap { path in queries.map { "\(path)?\($0)" } }
            + waits.map { "/v1/timers/t/wait?\($0)" }
        for target in targets {
            for accept in ["", "Accept: text/event-stream\r\n"] {
                let answer = try server.ask("GET", target, headers: accept)
                #expect(answer.status == 400 && answer.problem(at: target) != nil, "\(target)")
                let parameter = target.drop { $0 != "?" }.dropFirst().prefix { $0 != "=" }
                #expect(answer["parameter"] == String(parameter), "\(target)")
            }
        }
        let long = try server.ask("GET", "/v1/timers/t/wait?timeout=1h")
        #expect(long["detail"] == "`timeout` is from 0s to 10m")
        let resumed = try server.ask("GET", "/v1/events?follow=false", headers: "Last-Event-ID: x\r\n")
        #expect(resumed.problem(at: "/v1/events") == "invalid-request")
    }

    @Test func `a timer that is not there is not found`() throws {
        let server = try server()
        let targets = [
            "/v1/timers/no-such-timer/events", "/v1/timers/no-such-timer/wait", "/v1/events?timer=no-such-timer",
        ]
        for target in targets {
            for accept in ["", "Accept: text/event-stream\r\n"] {
                let answer = try server.ask("GET", target, headers: accept)
                #expect(answer.status == 404, "\(target)")
                #expect(answer.problem(at: target) == "not-found", "\(target)")
                guard target.hasPrefix("/v1/timers/") else { continue }
                #expect(answer["timer"] == "no-such-timer", "\(target)")
            }
        }
        let invalid = try server.ask("GET", "/v1/events?timer=no%20timer")
        #expect(invalid.status == 400)
        #expect(invalid["parameter"] == "timer")
    }

    @Test func `an id after the newest is refused with the range of ids`() throws {
        let server = try server()
        let newest = try #require(try server.ask("GET", "/v1/timers?limit=1").header("event-id"))
        let beyond = String(repeating: "9", count: newest.utf8.count)
        for target in ["/v1/events?since=\(beyond)", "/v1/events?follow=false&since=\(beyond)"] {
            let answer = try server.ask("GET", target)
            #expect(answer.status == 410)
            #expect(answer.problem(at: target) == "events-expired")
            let oldest = try #require(answer["oldest"])
            let last = try #require(answer["newest"])
            #expect(oldest <= last && last >= newest)
        }
    }

    @Test func `a refused stream does not activate`() throws {
        let server = try server(#"{"after":"1h","start":"subscriber"}"#)
        let before = try server.ask("GET", "/v1/timers/t").header("etag")
        let refused = [
            ("since=9223372036854775807", 410), ("since=x", 400), ("colour=red", 400), ("limit=0", 400),
            ("types=nothing", 400),
        ]
        for (query, status) in refused {
            #expect(try server.ask("GET", "/v1/timers/t/events?\(query)").status == status, "\(query)")
        }
        let after = try server.ask("GET", "/v1/timers/t")
        #expect(after.header("etag") == before)
        #expect(after["state"] == "idle")
    }

    private static let events = [
        "text/event-stream", "text/html, text/event-stream;q=0.5", "TEXT/EVENT-STREAM",
        "application/x-ndjson;q=0.4, text/event-stream; q=0.5", "application/x-ndjson, text/event-stream", "text/*",
        "text/event-stream;q=1.000, */*", "application/x-ndjson;q=0, */*;q=0.1",
    ]
    private static let lines = [
        "text/event-stream;q=0.4, application/x-ndjson;q=0.5", "text/event-stream;q=0.5, */*", "*/*", "text/html",
        "text/event-stream;q=0, application/json", "text/event-stream;q=0.999, application/*", "", ";q=1", ",",
        "image/png", "application/json", "text/html;q=0.9, */*;q=0.1", "nonsense",
    ]

    @Test func `Accept chooses server-sent events by weight, then by name, and anything else is NDJSON`() throws {
        let server = try server()
        let cases =
            Self.events.map { ("Accept: \($0)\r\n", "text/event-stream") }
            + Self.lines.map { ("Accept: \($0)\r\n", "application/x-ndjson") } + [("", "application/x-ndjson")]
        for (header, type) in cases {
            let answer = try server.ask("GET", "/v1/timers/t/events?follow=false", headers: header)
            #expect(answer.status == 200, "\(header)")
            #expect(answer.header("content-type")?.hasPrefix(type) == true, "\(header)")
            #expect(answer.text.contains(#""type":"activated""#), "\(header)")
        }
    }

    @Test func `a wait without time to wait, or for a timer that ended, is answered at once`() throws {
        let server = try server()
        let commands: [(String, String?)] = [
            ("idle", nil), ("running", nil), ("suspended", "suspend"), ("cancelled", "cancel"), ("completed", "fire"),
        ]
        for (state, command) in commands {
            let start = state == "idle" ? "manual" : "now"
            let made = try server.ask("PUT", "/v1/timers/\(state)", #"{"after":"1h","start":"\#(start)"}"#)
            try #require(made.status == 201)
            if let command { try #require(try server.ask("POST", "/v1/timers/\(state)/\(command)").status == 200) }
            let hasEnded = state == "cancelled" || state == "completed"
            let answer = try server.ask("GET", "/v1/timers/\(state)/wait?timeout=\(hasEnded ? "10m" : "0s")")
            #expect(answer.status == 204 && answer.body.isEmpty, "\(state)")
            let id = try #require(answer.header("event-id"), "\(state)")
            let isNumber = id.allSatisfy { $0.isNumber }
            #expect(isNumber, "\(state)")
        }
    }
}
