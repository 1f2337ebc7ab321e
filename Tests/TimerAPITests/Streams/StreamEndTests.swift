import TestSupport
import Testing

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
}
