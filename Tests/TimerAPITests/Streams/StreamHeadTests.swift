import TestSupport
import Testing

/// The heads of streams and waits, and HEAD of them, which waits for nothing.
struct StreamHeadTests {
    /// A whole server with a timer `held` that its first subscriber activates.
    private func server() throws -> WholeServer {
        let server = try WholeServer()
        let body = #"{"after":"1h","start":"subscriber"}"#
        try #require(try server.ask("PUT", "/v1/timers/held", body).status == 201)
        return server
    }

    private func head(_ method: String, _ target: String, _ server: WholeServer) throws -> RawClient.Answer {
        let client = RawClient(port: try server.port)
        client.send("\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n")
        return try #require(client.head())
    }

    private func lines(_ answer: RawClient.Answer) -> [String] {
        answer.headers.map { "\($0.name): \($0.value)" }.filter { line in
            !["Date:", "Request-Id:", "Event-Id:"].contains { line.hasPrefix($0) }
        }
    }

    @Test func `HEAD of a stream says what GET says`() throws {
        let server = try server()
        for target in ["/v1/events", "/v1/timers/held/events", "/v1/events?follow=false"] {
            let said = try head("HEAD", target, server)
            let shown = try head("GET", target, server)
            #expect(said.status == 200 && shown.status == 200, "\(target)")
            #expect(lines(said) == lines(shown), "\(target)")
            #expect(said.header("transfer-encoding") == "chunked" && said.header("content-length") == nil, "\(target)")
        }
    }

    @Test func `HEAD of a wait waits for nothing, names no length, and activates nothing`() throws {
        let server = try server()
        let said = try head("HEAD", "/v1/timers/held/wait?timeout=10m", server)
        #expect(said.status == 200)
        #expect(said.header("event-id") != nil && said.header("content-type") == "application/json")
        #expect(said.header("content-length") == nil && said.header("transfer-encoding") == nil)
        #expect(try head("HEAD", "/v1/timers/held/events", server).status == 200)
        #expect(try server.ask("GET", "/v1/timers/held")["state"] == "idle")
        #expect(try head("HEAD", "/v1/timers/other/wait", server).status == 404)
    }

    @Test(arguments: [1, 2_147_483_647, 2_147_483_648, Int.max])
    func `any number of events may be asked for`(limit: Int) throws {
        let server = try WholeServer()
        try #require(try server.ask("PUT", "/v1/timers/t", #"{"after":"1h"}"#).status == 201)
        let shown = try server.ask("GET", "/v1/timers/t/events?follow=false&limit=\(limit)").text
        let types = shown.split(separator: "\n").filter { $0.hasPrefix("{") }
        #expect(types.count == min(limit, 2))
        #expect(types.first?.contains(#""type":"created""#) == true)
        if limit > 1 { #expect(types.last?.contains(#""type":"activated""#) == true) }
    }
}
