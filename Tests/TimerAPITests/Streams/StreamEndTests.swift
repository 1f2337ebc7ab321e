import TestSupport
import Testing
import TimerAPI
import TimerCore

/// The end of a stream, as its timer sees it.
struct StreamEndTests {
    @Test func `a timer that runs for its subscribers is suspended after its last stream has ended`() throws {
        let server = try WholeServer()
        let body = #"{"after":"1h","start":"subscriber","stop":"subscriber"}"#
        try #require(try server.ask("PUT", "/v1/timers/held", body).status == 201)
        let client = RawClient(port: try server.port)
        client.send("GET /v1/timers/held/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        try #require(client.head()?.status == 200)
        #expect(try server.ask("GET", "/v1/timers/held")["state"] == "running")
        client.reset()
        try eventually("the timer is suspended") {
            server.time.pass(milliseconds: 1000)
            return try server.ask("GET", "/v1/timers/held")["state"] == "suspended"
        }
    }

    @Test func `a drain ends the waits that are open, and none that begins later`() throws {
        let server = try WholeServer { $0.ioThreads = 1 }
        try server.make("t", in: .running)
        func wait(_ timeout: String) throws -> RawClient {
            let client = RawClient(port: try server.port)
            client.send("GET /v1/timers/t/wait?timeout=\(timeout) HTTP/1.1\r\nHost: localhost\r\n\r\n")
            // The loop has read the wait's request once it answers one that came later.
            _ = try server.timer("t")
            return client
        }
        let open = try wait("10m")
        #expect(try server.ask("POST", "/v1/drain").status == 200)
        #expect(open.answer()?.status == 204)
        let later = try wait("10m")
        // The loop looks at the drain once a second.
        #expect(try wait("1100ms").answer()?.status == 204)
        #expect(try server.ask("DELETE", "/v1/drain").status == 200)
        try server.command("t", "fire")
        #expect(later.answer()?["type"] == "fired")
    }
}
