import TestSupport
import Testing

/// Requests whose body looks like another request. The body ends where its framing says, whatever the answer is.
struct BodyBoundaryTests {
    private static let json = "Content-Type: application/json\r\n"

    /// Methods, targets and header lines of requests that are answered in each way.
    private static let requests: [(String, String, String)] = [
        ("GET", "/healthz", ""), ("HEAD", "/healthz", ""), ("OPTIONS", "/v1/timers", ""),
        ("POST", "/v1/no-such-path", json), ("POST", "/v1/timers/none/suspend", ""), ("DELETE", "/v1/timers", ""),
        ("POST", "/v1/timers", "Content-Type: text/plain\r\n"), ("POST", "/v1/timers", ""),
        ("POST", "/v1/timers", json), ("BREW", "/v1/timers", ""),
        ("POST", "/v1/timers", "\(json)Origin: http://elsewhere\r\n"),
        ("POST", "http://elsewhere.example/v1/timers", json), ("GET", "/v1/events?follow=false", ""),
        ("GET", "/v1/timers/none/wait", ""), ("GET", "/healthz", "Connection: upgrade\r\nUpgrade: h2c\r\n"),
        ("POST", "/v1/no-such-path", "\(json)Expect: 100-continue\r\n"),
    ]

    @Test(arguments: [false, true])
    func `a body is never taken for a request`(isChunked: Bool) throws {
        let server = try WholeServer()
        let hidden = #"{"id":"hidden","after":"1h"}"#
        let fields = "Host: localhost\r\n\(Self.json)Content-Length: \(hidden.utf8.count)\r\n"
        let body = "POST /v1/timers HTTP/1.1\r\n\(fields)\r\n\(hidden)"
        let framing =
            isChunked
            ? "Transfer-Encoding: chunked\r\n\r\n\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\n\r\n"
            : "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        for (method, target, fields) in Self.requests {
            let client = RawClient(port: try server.port)
            client.send("\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n\(fields)\(framing)")
            client.endSending()
            let statuses = RawClient.statuses(in: String(decoding: client.rest(), as: UTF8.self)).filter { $0 != 100 }
            #expect(statuses.count == 1, "\(method) \(target) \(fields): \(statuses)")
            #expect(try server.ask("GET", "/v1/timers/hidden").status == 404, "\(method) \(target) \(fields)")
        }
    }
}
