import HTTPServer
import TestSupport
import Testing

struct DrainTests {
    @Test func `running requests are answered, streams ended, and new connections refused`() throws {
        let server = try TestServer(loops: 2)
        let waiting = (0..<10).map { _ in server.client() }
        let stream = server.client()
        let parked = server.client()
        for client in waiting { client.send("GET /later HTTP/1.1\r\nHost: test\r\n\r\n") }
        stream.send("GET /stream HTTP/1.1\r\nHost: test\r\n\r\n")
        parked.send("GET /park HTTP/1.1\r\nHost: test\r\n\r\n")
        #expect(server.probe.wait("kept", count: 10))
        #expect(server.probe.wait("streaming"))
        #expect(server.probe.wait("parked"))
        server.server.beginDrain()
        #expect(server.probe.wait("drain", count: 2))
        #expect(server.client().get("/") == nil)
        server.probe.open("later")
        server.server.stop(deadlineSeconds: Double(Patience.seconds))
        for client in waiting {
            let answer = try #require(client.answer())
            #expect(answer.text == "late")
            #expect(answer.closes)
            #expect(client.isClosedByPeer())
        }
        #expect(stream.answer()?.text == "first")
        #expect(parked.answer()?.text == "parked")
        #expect(server.server.connectionCount == 0)
        #expect(server.server.streamCount == 0)
        #expect(server.probe.count("drain") == 2)
    }

    @Test func `a kept connection is answered once more and closed`() throws {
        let server = try TestServer()
        let client = server.client()
        #expect(client.get("/")?.closes == false)
        server.server.beginDrain()
        #expect(server.probe.wait("drain"))
        let answer = try #require(client.get("/"))
        #expect(answer.closes)
        #expect(answer.header("x-draining") == "true")
        #expect(client.isClosedByPeer())
    }

    @Test func `at the deadline what is under way is cut`() throws {
        let server = try TestServer()
        let clients = (0..<200).map { _ in server.client() }
        for client in clients { client.send("POST /later HTTP/1.1\r\nHost: test\r\nContent-Length: 1\r\n\r\na") }
        #expect(server.probe.wait("kept", count: 200))
        server.server.stop(deadlineSeconds: 0)
        for client in clients { #expect(client.answer() == nil) }
        #expect(server.server.connectionCount == 0)
        #expect(server.server.forgottenAnswers == 0)
    }

    @Test func `to stop twice, or before the start, is harmless`() throws {
        let server = try TestServer()
        server.server.stop(deadlineSeconds: Double(Patience.seconds))
        server.server.stop(deadlineSeconds: Double(Patience.seconds))
        let handler = Probe()
        let never = try HTTPServer(ServerConfiguration(listeners: [.tcp(host: "127.0.0.1", port: 0)], loops: 2)) { _ in
            TestHandler(handler, bodyLimit: 0)
        }
        never.stop(deadlineSeconds: Double(Patience.seconds))
        never.start()
        #expect(RawClient(port: never.boundAddresses[0].port ?? 0).get("/") == nil)
    }
}
