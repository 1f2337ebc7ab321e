import TestSupport
import Testing

@testable import HTTPServer

/// Rests of a loop that has nothing open.
struct LoopRestTests {
    @Test(arguments: [false, true], ["/", "/stream"])
    func `a loop rests while nothing is open, and ticks while a client is there`(isSecure: Bool, path: String) throws {
        let server = try TestServer(isSecure: isSecure)
        server.probe.open("rest")
        #expect(server.probe.wait("rest"))
        let client = server.client()
        client.send("GET \(path) HTTP/1.1\r\nHost: test\r\n\r\n")
        #expect(server.probe.wait("handled"))
        let rests = server.probe.count("rest")
        #expect(server.probe.wait("tick", count: server.probe.count("tick") + 3))
        #expect(server.probe.count("rest") == rests)
        client.reset()
        #expect(server.probe.wait("rest", count: rests + 1))
        #expect(server.client().get("/")?.status == 200)
    }

    @Test func `a rest ends with a tick, before what has ended it`() throws {
        let server = try TestServer()
        server.probe.open("rest")
        for gate in ["a", "b", "c"] {
            let rests = server.probe.count("rest")
            server.probe.open(gate)
            #expect(server.probe.wait("rest", count: rests + 1))
        }
        #expect(server.probe.count("woken without a tick") == 0 && server.probe.count("tick") >= 2)
    }
}
