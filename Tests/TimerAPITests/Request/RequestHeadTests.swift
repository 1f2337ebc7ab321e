import TestSupport
import Testing
import TimerCore

@testable import TimerAPI

/// The heads of requests: media types, parameters and conditions, on each route that takes a body or parameters.
@Suite(.serialized) struct RequestHeadTests {
    private static let bodies = [
        ("POST", "/v1/timers", #"{"after":"1h"}"#), ("PUT", "/v1/timers/t", #"{"after":"2h"}"#),
        ("PATCH", "/v1/timers/t", #"{"after":"2h"}"#), ("POST", "/v1/timers/t/reschedule", #"{"after":"2h"}"#),
        ("POST", "/v1/timers/t/suspend", "{}"), ("POST", "/v1/timers/batch", #"{"after":"1h"}"#),
        ("POST", "/v1/timers/bulk/cancel", #"{"states":["running"]}"#),
        ("POST", "/v1/schedules/preview", #"{"after":"1h"}"#), ("DELETE", "/v1/timers/t", "{}"),
        ("POST", "/v1/deliveries/redrive", #"{"timer":"t"}"#),
    ]

    private let server: WholeServer

    init() throws { server = try WholeServer() }

    /// The answer to a request whose head has `lines` before the length of the body.
    private func send(_ method: String, _ path: String, _ body: String, _ lines: String) throws -> RawClient.Answer {
        let client = RawClient(port: try server.port)
        let head = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n\(lines)Content-Length: \(body.utf8.count)\r\n\r\n"
        client.send(head + body)
        return try #require(client.answer())
    }

    @Test func `another media type, or none, is refused`() throws {
        try server.make("t", in: .running)
        let head = server.head
        for (method, path, body) in Self.bodies {
            var types = [nil, "text/plain", "application/json-patch+json", "application/jsonx", ""]
            if method != "PATCH" { types.append("application/merge-patch+json") }
            if !path.hasSuffix("batch") { types.append("application/x-ndjson") }
            for type in types {
                let answer = try send(method, path, body, type.map { "Content-Type: \($0)\r\n" } ?? "")
                #expect(answer.verdict == "415 unsupported-media-type", "\(method) \(path) \(type ?? "")")
            }
            let coded = try send(method, path, body, "Content-Type: application/json\r\nContent-Encoding: gzip\r\n")
            #expect(coded.verdict == "415 unsupported-media-type", "\(method) \(path)")
            let twice = try send(
                method, path, body, "Content-Type: application/json\r\nContent-Type: application/json\r\n")
            #expect(twice.verdict == "400 invalid-request", "\(method) \(path)")
        }
        #expect(server.head == head)
    }

    @Test func `a media type may have another case and parameters`() throws {
        try server.make("t", in: .running)
        for (method, path, body) in Self.bodies where method == "PATCH" || path == "/v1/timers" {
            for type in ["application/json; charset=utf-8", "Application/JSON ;x=y"] {
                let status = try send(method, path, body, "Content-Type: \(type)\r\n").status
                #expect([200, 201].contains(status), "\(method) \(path) \(type)")
            }
        }
        for (path, type) in [
            ("/v1/timers/t", "application/merge-patch+json; charset=utf-8"),
            ("/v1/timers/batch", "application/x-ndjson"),
        ] {
            let method = path.hasSuffix("batch") ? "POST" : "PATCH"
            #expect(try send(method, path, #"{"after":"3h"}"#, "Content-Type: \(type)\r\n").status == 200, "\(type)")
        }
    }

    @Test func `a parameter that a route does not take is named`() throws {
        try server.make("t", in: .running)
        let head = server.head
        for (method, path, body) in [
            ("GET", "/v1/timers?", ""), ("POST", "/v1/timers?", #"{"after":"1h"}"#), ("GET", "/v1/timers/t?", ""),
            ("PUT", "/v1/timers/t?", #"{"after":"2h"}"#), ("PUT", "/v1/timers/t?apply=true&", #"{"after":"2h"}"#),
            ("PATCH", "/v1/timers/t?", #"{"after":"2h"}"#), ("DELETE", "/v1/timers/t?", ""),
            ("POST", "/v1/timers/t/suspend?", ""), ("GET", "/v1/timers/t/next?", ""),
            ("POST", "/v1/timers/batch?", #"{"after":"1h"}"#),
            ("POST", "/v1/timers/bulk/cancel?", #"{"states":["running"]}"#),
            ("POST", "/v1/schedules/preview?", #"{"after":"1h"}"#), ("GET", "/v1/deliveries?", ""),
            ("POST", "/v1/deliveries/redrive?", #"{"timer":"t"}"#), ("GET", "/v1/events?", ""),
            ("GET", "/v1/stats?", ""),
        ] {
            let answer = try server.ask(method, path + "colour=red", body.isEmpty ? nil : body)
            #expect(answer.verdict == "400 unknown-field ?colour", "\(method) \(path): \(answer.text)")
        }
        #expect(server.head == head)
    }

    @Test func `a condition is refused where there is no one timer to match`() throws {
        try server.make("t", in: .running)
        let head = server.head
        for path in [
            "/v1/timers", "/v1/timers/batch", "/v1/timers/bulk/cancel", "/v1/deliveries/redrive",
        ] {
            let body = try #require(Self.bodies.first { $0.1 == path }).2
            let answer = try server.ask("POST", path, body, headers: "If-Match: *\r\n")
            #expect(answer.verdict == "400 invalid-request", "\(path)")
        }
        #expect(server.head == head)
    }
}
