import TestSupport
import Testing

@testable import TimerAPI

/// Requests for what is due and what was, and for tests of webhooks, on a server that sends nothing.
@Suite(.serialized) struct StatsRequestTests {
    private let server: WholeServer

    init() throws { server = try WholeServer() }

    @Test func `timers are counted by when they are due`() throws {
        for (id, after) in [("a", "30s"), ("b", "90s"), ("c", "59m"), ("d", "2h"), ("e", "8d")] {
            #expect(try server.ask("PUT", "/v1/timers/\(id)", #"{"after":"\#(after)"}"#).status == 201)
        }
        let hour = try server.ask("GET", "/v1/stats/due?buckets=4")
        #expect(hour.text.contains(#""counts":[2,0,0,1],"overdue":0,"later":2"#), "\(hour.text)")
        let week = try server.ask("GET", "/v1/stats/due?within=7d&buckets=1")
        #expect(week.text.contains(#""counts":[4],"overdue":0,"later":1"#), "\(week.text)")
        let plain = try server.ask("GET", "/v1/stats/due").text
        #expect(plain == (try server.ask("GET", "/v1/stats/due?within=1h&buckets=60").text))
        #expect(plain.split(separator: ",").count == 64)
    }

    @Test func `a count of many timers takes several steps, and is answered after the last`() throws {
        // A step looks at 256 timers with a jitter, or at 4,096 without.
        let lines = String(repeating: #"{"after":"30s","jitter":"1s"}"# + "\n", count: 300)
        let made = try server.ask("POST", "/v1/timers/batch", lines, type: "application/x-ndjson")
        #expect(made.lines.count { $0["status"] == "201" } == 300)
        let hour = try server.ask("GET", "/v1/stats/due?buckets=1")
        #expect(hour.text.contains(#""counts":[300],"overdue":0,"later":0"#), "\(hour.text)")
    }

    @Test func `a parameter that can't be is named`() throws {
        for (target, verdict) in [
            ("due?within=2h", "400 invalid-request ?within"), ("due?within=", "400 invalid-request ?within"),
            ("due?buckets=0", "400 invalid-request ?buckets"), ("due?buckets=1001", "400 invalid-request ?buckets"),
            ("due?minutes=1", "400 unknown-field ?minutes"), ("history?minutes=0", "400 invalid-request ?minutes"),
            ("history?minutes=61", "400 invalid-request ?minutes"), ("history?x=1", "400 unknown-field ?x"),
        ] {
            #expect(try server.ask("GET", "/v1/stats/\(target)").verdict == verdict, "\(target)")
        }
    }

    @Test func `the history is a list of points`() throws {
        let history = try server.ask("GET", "/v1/stats/history?minutes=1")
        #expect(history.status == 200 && history.text.hasPrefix(#"{"interval":"10s","points":["#), "\(history.text)")
    }

    @Test func `a test of a webhook is refused for what is wrong first`() throws {
        try #require(try server.ask("PUT", "/v1/timers/bare", #"{"after":"1h"}"#).status == 201)
        let hooked = #"{"after":"1h","webhook":"http://hooks.example/"}"#
        try #require(try server.ask("PUT", "/v1/timers/hooked", hooked).status == 201)
        let target = "/v1/timers/hooked/webhook/test"
        #expect(try server.ask("POST", "/v1/timers/none/webhook/test", #"{"x":1}"#).verdict == "404 not-found")
        #expect(try server.ask("POST", target, #"{"x":1}"#).verdict == "400 unknown-field /x")
        #expect(try server.ask("POST", target, "{}", type: "text/plain").status == 415)
        #expect(try server.ask("POST", target + "?dryRun=true").verdict == "400 unknown-field ?dryRun")
        for header in ["If-Match: *", "Idempotency-Key: k"] {
            #expect(
                try server.ask("POST", target, headers: header + "\r\n").verdict == "400 invalid-request", "\(header)")
        }
        let bare = try server.ask("POST", "/v1/timers/bare/webhook/test")
        #expect(bare.verdict == "409 illegal-transition" && bare["timer"] == "bare")
        #expect(try server.ask("GET", target).header("allow") == "POST, OPTIONS")
        // This server sends nothing, as one that stops.
        #expect(try server.ask("POST", target, "{}").verdict == "503 shutting-down")
    }
}
