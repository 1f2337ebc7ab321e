import HTTPServer
import TestSupport
import Testing

@testable import TimerAPI

/// Requests of other sites' pages, as a browser sends them. `PageOriginTests` has how `Origin` and `Host` are compared.
struct CrossOriginTests {
    /// The headers that a browser adds to the request of another site's page.
    private static let foreign = [
        "Origin: http://evil.example", "Origin: null", "Origin: http://localhost:1", "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site",
    ]

    /// A whole server with a timer `held`.
    private func server(_ configure: (inout APIConfiguration) -> Void = { _ in }) throws -> WholeServer {
        let server = try WholeServer(configure: configure)
        try #require(try server.ask("PUT", "/v1/timers/held", #"{"after":"1h","labels":{"a":"b"}}"#).status == 201)
        return server
    }

    @Test func `a change by another site's page is refused and changes nothing`() throws {
        let server = try server()
        let ndjson = "application/x-ndjson"
        let changes: [(String, String, String?, String)] = [
            ("POST", "/v1/timers", #"{"id":"new","after":"1h"}"#, "application/json"),
            ("PUT", "/v1/timers/new", #"{"after":"1h"}"#, "application/json"),
            ("PATCH", "/v1/timers/held", #"{"labels":{"a":"c"}}"#, "application/json"),
            ("DELETE", "/v1/timers/held", nil, ""), ("POST", "/v1/timers/held/suspend", nil, ""),
            ("POST", "/v1/timers/batch", #"{"id":"new","after":"1h"}"#, ndjson),
            ("POST", "/v1/timers/bulk/cancel", #"{"labels":{"a":"b"}}"#, "application/json"),
            ("POST", "/v1/nowhere", "{}", "application/json"), ("POST", "/v1/timers/none/suspend", nil, ""),
            ("BREW", "/v1/timers", nil, ""),
        ]
        let before = try server.ask("GET", "/v1/timers/held").header("etag")
        for (method, target, body, type) in changes {
            for line in Self.foreign {
                let answer = try server.ask(method, target, body, type: type, headers: "\(line)\r\n")
                #expect(answer.status == 403, "\(method) \(target), \(line)")
                #expect(answer.problem(at: target) == "cross-origin", "\(method) \(target), \(line)")
            }
        }
        #expect(try server.ask("GET", "/v1/timers/held").header("etag") == before)
        #expect(try server.ask("GET", "/v1/timers/new").status == 404)
    }

    @Test func `no stream is opened for another site's page`() throws {
        let server = try server()
        let targets = [
            "/v1/events", "/v1/events?follow=false", "/v1/timers/held/events", "/v1/timers/held/wait", "/v1/export",
        ]
        for target in targets {
            for line in Self.foreign {
                for accept in ["", "Accept: text/event-stream\r\n"] {
                    let answer = try server.ask("GET", target, headers: "\(line)\r\n\(accept)")
                    #expect(answer.status == 403, "\(target), \(line)")
                    #expect(answer.problem(at: target) == "cross-origin", "\(target), \(line)")
                }
            }
        }
    }

    @Test func `pages of the server itself, and clients that are no browser, may change`() throws {
        let server = try server()
        let own = "localhost:\(try server.port)"
        let allowed: [(String, String)] = [
            ("", own), ("Sec-Fetch-Site: same-origin\r\n", own), ("Sec-Fetch-Site: none\r\n", own),
            ("Origin: http://\(own)\r\n", own), ("Origin: http://\(own)\r\nSec-Fetch-Site: same-origin\r\n", own),
            ("Origin: https://timerd\r\n", "timerd:443"), ("Origin: https://timerd:443\r\n", "timerd"),
        ]
        for (lines, host) in allowed {
            let answer = try server.ask("POST", "/v1/timers", #"{"after":"1h"}"#, host: host, headers: lines)
            #expect(answer.status == 201, "\(host): \(lines)")
        }
        let answer = try server.ask(
            "POST", "/v1/timers", #"{"after":"1h"}"#, host: "timerd:443", headers: "Origin: http://timerd\r\n")
        #expect(answer.problem(at: "/v1/timers") == "cross-origin")
        let detail = try #require(answer["detail"])
        #expect(detail.contains("`http://timerd`") && detail.contains("`timerd:443`"))
    }

    @Test func `nothing allows a page to read what other sites are answered`() throws {
        let server = try server()
        let origin = "Origin: http://evil.example\r\n"
        let read = try server.ask("GET", "/v1/timers?limit=1", headers: origin)
        let preflight = try server.ask(
            "OPTIONS", "/v1/timers", headers: "\(origin)Access-Control-Request-Method: POST\r\n")
        #expect(read.status == 200)
        #expect(preflight.status == 204)
        for answer in [read, preflight] {
            #expect(!answer.headers.contains { $0.name.lowercased().hasPrefix("access-control-") })
        }
    }

    @Test(arguments: ["*", "timers.example"])
    func `an allowed host is no allowed origin`(allowed: String) throws {
        let rule = try #require(HostRule(allowed))
        let server = try server { $0.allowedHosts = [rule] }
        func create(_ origin: String) throws -> Int {
            try server.ask(
                "POST", "/v1/timers", #"{"after":"1h"}"#, host: "timers.example", headers: "Origin: \(origin)\r\n"
            ).status
        }
        #expect(try create("http://timers.example") == 201)
        #expect(try create("http://other.example") == 403)
    }
}
