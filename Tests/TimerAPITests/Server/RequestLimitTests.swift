import Foundation
import TestSupport
import Testing
import TimerCore

@testable import TimerAPI

/// The bounds of requests, and the problems that report them. `LimitTests` has them at the byte.
struct RequestLimitTests {
    private static let create = #"{"after":"1h"}"#
    private static let calendar = #"{"timeZone":"UTC","week":{"mon":["09:00-17:00"]}}"#

    @Test func `a body of 256 KiB is the largest`() throws {
        let server = try WholeServer()
        let most = Self.create + String(repeating: " ", count: APILimits.bodyBytes - Self.create.utf8.count)
        #expect(try server.ask("POST", "/v1/timers", most).status == 201)
        let refused = try server.ask("POST", "/v1/timers", most + " ")
        #expect(refused.status == 413)
        #expect(refused.problem(at: "/v1/timers") == "too-large")
    }

    @Test func `that a thing is absent comes before the size of the body, and so does the body's type`() throws {
        let server = try WholeServer()
        try server.make("t", in: .running)
        #expect(try server.ask("PUT", "/v1/calendars/c", Self.calendar).status == 201)
        let head = server.head
        let body = String(repeating: " ", count: APILimits.bodyBytes + 1)
        let (absent, large) = ("404 not-found", "413 too-large")
        for (method, target, verdict) in [
            ("PATCH", "/v1/timers/absent", absent), ("PATCH", "/v1/timers/t", large), ("DELETE", "/v1/timers/t", large),
            ("DELETE", "/v1/timers/a%20b", absent), ("POST", "/v1/timers/absent/suspend", absent),
            ("POST", "/v1/timers/t/suspend", large), ("POST", "/v1/timers/t/reschedule", large),
            ("POST", "/v1/timers/absent/webhook/test", absent), ("POST", "/v1/timers/t/webhook/test", large),
            ("POST", "/v1/deliveries/9/redrive", absent),
            ("POST", "/v1/deliveries/1898231250945671168/redrive", absent),
            ("DELETE", "/v1/calendars/absent", absent), ("DELETE", "/v1/calendars/c", large),
            // A PUT makes the timer, and a GET has no body.
            ("PUT", "/v1/timers/absent", large), ("GET", "/v1/timers/absent", large),
        ] {
            #expect(try server.ask(method, target, body).verdict == verdict, "\(method) \(target)")
        }
        let type = try server.ask("PATCH", "/v1/timers/t", body, type: "text/plain")
        #expect(type.verdict == "415 unsupported-media-type")
        #expect(try server.ask("PATCH", "/v1/timers/t", body, headers: "Idempotency-Key: k\r\n").status == 413)
        #expect(server.head == head)
    }

    @Test func `a body in chunks has the same bound`() throws {
        let server = try WholeServer()
        let client = RawClient(port: try server.port)
        let type = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        let chunk = "10000\r\n\(String(repeating: " ", count: 0x10000))\r\n"
        client.send("POST /v1/timers HTTP/1.1\r\nHost: localhost\r\n\(type)")
        client.send(String(repeating: chunk, count: 5) + "0\r\n\r\n")
        client.endSending()
        #expect(client.answer()?.problem(at: "/v1/timers") == "too-large")
        server.stop()
    }

    @Test func `a body that is announced as too large is refused at once`() throws {
        let server = try WholeServer()
        let client = RawClient(port: try server.port)
        let fields = "Content-Type: application/json\r\nContent-Length: 99999999999\r\n"
        client.send("POST /v1/timers HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n")
        let answer = client.answer()
        #expect(answer?.status == 413)
        #expect(answer?.problem(at: "/v1/timers") == "too-large")
        server.stop()
    }

    @Test func `a target has at most 4 KiB, and a head 8`() throws {
        let server = try WholeServer()
        func target(_ count: Int) -> String { "/v1/timers/" + String(repeating: "x", count: count) }
        #expect(try server.ask("GET", target(3000)).problem(at: target(3000)) == "not-found")
        let long = try server.ask("GET", target(5000))
        #expect(long.status == 414)
        #expect(long.problem(at: target(5000)) == "too-large")
        #expect([414, 431].contains(try server.ask("GET", target(9000)).status))
        func head(_ lines: String) throws -> RawClient.Answer { try server.ask("GET", "/healthz", headers: lines) }
        #expect(try head("X-Fill: \(String(repeating: "x", count: 6000))\r\n").status == 200)
        let short = (0..<85).map { "X-Fill-\($0): \(String(repeating: "x", count: 100))\r\n" }.joined()
        for lines in ["X-Fill: \(String(repeating: "x", count: 9500))\r\n", short] {
            let answer = try head(lines)
            #expect(answer.status == 431)
            #expect(answer["type"] == "/problems/too-large")
        }
    }

    @Test func `Request-Id comes back, or is made where it is none`() throws {
        let server = try WholeServer()
        func answered(_ line: String, _ target: String) throws -> RawClient.Answer {
            try #require(RawClient(port: try server.port).get(target, headers: line))
        }
        let given = "~!visible@ASCII#" + String(repeating: "x", count: 112)
        #expect(try answered("Request-Id: \(given)\r\n", "/healthz").header("request-id") == given)
        #expect(try answered("Request-Id: \(given)\r\n", "/v1/nowhere")["requestId"] == given)
        var made: Set<String> = []
        let none = ["", "Request-Id: \(given)x\r\n", "Request-Id: a b\r\n", "Request-Id: \r\n", ""]
        for line in none {
            let id = try #require(try answered(line, "/healthz").header("request-id"))
            #expect(UUID(uuidString: id) != nil, "\(line)")
            made.insert(id)
        }
        #expect(made.count == none.count)
    }
}
