import HTTPServer
import TestSupport
import Testing

struct SecureConnectionTests {
    @Test func `a connection is kept, and its peer is the client`() throws {
        let server = try TestServer(isSecure: true)
        let client = server.client(from: 7)
        for _ in 0..<5 { #expect(client.get("/")?.text == "hello") }
        #expect(client.get("/peer")?.text.hasPrefix("127.0.0.7:") == true)
        #expect(server.settles(connections: 1, streams: 0))
    }

    @Test func `bodies larger than all buffers go both ways`() throws {
        // Made first: a connection is closed on which no byte comes for a while.
        let body = (0..<3_500_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        let server = try TestServer(isSecure: true)
        let client = server.client()
        for _ in 0..<2 {
            client.send("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: \(body.count)\r\n\r\n")
            client.send(body)
            #expect(client.answer()?.body == body)
        }
    }

    @Test func `requests that come together are answered in order`() throws {
        let server = try TestServer(isSecure: true)
        let client = server.client()
        let requests = (0..<50).map { "GET /\($0) HTTP/1.1\r\nHost: test\r\n\r\n" }.joined()
        client.send(requests)
        for index in 0..<50 { #expect(client.answer()?.header("x-target") == "/\(index)") }
    }

    @Test func `a client that does not read holds up itself alone`() throws {
        let server = try TestServer(isSecure: true)
        let slow = server.client()
        slow.send("GET /huge HTTP/1.1\r\nHost: test\r\n\r\n")
        #expect(server.probe.wait("handled"))
        #expect(server.client().get("/")?.status == 200)
        #expect(slow.answer()?.body.count == 40_000_000)
    }

    @Test func `a client that does not read its answer is closed after its time`() throws {
        let server = try TestServer(isSecure: true) { $0.responseSeconds = 1 }
        let slow = server.client()
        slow.send("GET /huge HTTP/1.1\r\nHost: test\r\n\r\n")
        #expect(server.probe.wait("handled"))
        #expect(server.settles(connections: 0, streams: 0))
    }

    @Test(arguments: [true, false])
    func `a client that sends nothing more gets its answer, and close_notify`(isHeld: Bool) throws {
        let server = try TestServer(isSecure: true)
        let tls = TLSClient()
        let client = RawClient(port: server.port, tls: tls)
        client.send("GET \(isHeld ? "/later" : "/") HTTP/1.1\r\nHost: test\r\n\r\n")
        client.endSending()
        if isHeld {
            #expect(server.probe.wait("kept"))
            server.probe.open("later")
        }
        #expect(client.answer()?.text == (isHeld ? "late" : "hello"))
        #expect(client.isClosedByPeer())
        #expect(tls.isEnded)
        #expect(server.settles(connections: 0, streams: 0))
    }

    @Test func `a request is handled though its client went at once`() throws {
        let server = try TestServer(isSecure: true)
        var client: RawClient? = server.client()
        client?.send("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 1\r\n\r\na")
        client = nil
        #expect(server.probe.wait("handled"))
        #expect(server.settles(connections: 0, streams: 0))
    }

    @Test func `a refused body's answer arrives, though the client sends on`() throws {
        let server = try TestServer(isSecure: true)
        let client = server.client()
        client.send("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 900000000\r\n\r\n")
        client.send([UInt8](repeating: 0x61, count: 100_000))
        #expect(client.answer()?.status == 413)
    }

    @Test func `keys may be renewed between requests`() throws {
        let server = try TestServer(isSecure: true)
        let tls = TLSClient()
        let client = RawClient(port: server.port, tls: tls)
        for _ in 0..<3 {
            #expect(client.get("/")?.status == 200)
            #expect(tls.updateKeys())
            client.flush(tls)
        }
        #expect(client.get("/")?.status == 200)
    }

    @Test func `a kept connection without a request is closed after its time, with close_notify`() throws {
        let server = try TestServer(isSecure: true) { $0.idleSeconds = 1 }
        let tls = TLSClient()
        let client = RawClient(port: server.port, tls: tls)
        #expect(client.get("/")?.status == 200)
        #expect(client.isClosedByPeer())
        #expect(tls.isEnded)
    }

    // The sizes differ by less than what the server holds of an answer that the kernel does not take: of one at least
    // the library has written all, and the client has not taken all.
    @Test func `an answer is whole though its client reads only after the time of an idle connection`() throws {
        let sizes = (1...62).map { $0 * 64_000 }
        let server = try TestServer(isSecure: true) { $0.idleSeconds = 1 }
        let clients = sizes.map { size in
            let client = server.client()
            client.send("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: \(size)\r\n\r\n")
            client.send([UInt8](repeating: 0x61, count: size))
            return client
        }
        #expect(server.probe.wait("handled", count: sizes.count))
        let kept = server.client()
        #expect(kept.get("/")?.status == 200)
        #expect(kept.isClosedByPeer())
        #expect(clients.map { $0.answer()?.body.count } == sizes)
    }

    @Test func `requests behind an answer that can't be sent end with it`() throws {
        let server = try TestServer(isSecure: true)
        let client = server.client()
        let further = String(repeating: "GET / HTTP/1.1\r\nHost: test\r\n\r\n", count: 20)
        client.send("GET /later HTTP/1.1\r\nHost: test\r\n\r\n" + further)
        #expect(server.probe.wait("kept"))
        client.reset()
        // The reset comes before another client's request.
        #expect(server.client().get("/")?.status == 200)
        server.probe.open("later")
        #expect(server.settles(connections: 0, streams: 0))
        // The library hands on a few before the connection has the first answer.
        #expect(server.probe.count("handled") < 10)
    }

    @Test func `a later request that stops is closed after the time of a request`() throws {
        let server = try TestServer(isSecure: true) {
            $0.requestSeconds = 1
            $0.idleSeconds = 1000
        }
        let client = server.client()
        #expect(client.get("/")?.status == 200)
        client.send("GET ")
        #expect(client.isClosedByPeer())
    }

    @Test func `a drain answers what runs and ends the streams`() throws {
        let server = try TestServer(isSecure: true, loops: 2)
        let waiting = (0..<5).map { _ in server.client() }
        let streams = (0..<5).map { _ in server.client() }
        let idle = TLSClient()
        let kept = RawClient(port: server.port, tls: idle)
        #expect(kept.get("/")?.status == 200)
        for client in waiting { client.send("GET /later HTTP/1.1\r\nHost: test\r\n\r\n") }
        for client in streams { client.send("GET /stream HTTP/1.1\r\nHost: test\r\n\r\n") }
        #expect(server.probe.wait("kept", count: 5))
        #expect(server.probe.wait("streaming", count: 5))
        server.server.beginDrain()
        #expect(server.probe.wait("drain", count: 2))
        #expect(!server.client().isSecured)
        server.probe.open("later")
        server.server.stop(deadlineSeconds: Double(Patience.seconds))
        for client in waiting {
            let answer = try #require(client.answer())
            #expect(answer.text == "late")
            #expect(answer.closes)
        }
        for client in streams { #expect(client.answer()?.text == "first") }
        #expect(kept.isClosedByPeer())
        #expect(idle.isEnded)
        #expect(server.server.connectionCount == 0)
        #expect(server.server.streamCount == 0)
    }

    @Test func `an answer that the client is slow to read is sent before a stop`() throws {
        let server = try TestServer(isSecure: true)
        let client = server.client()
        client.send("GET /huge HTTP/1.1\r\nHost: test\r\n\r\n")
        #expect(server.probe.wait("handled"))
        let stopped = server.server
        let background = Background { stopped.stop(deadlineSeconds: Double(Patience.seconds)) }
        #expect(client.answer()?.body.count == 40_000_000)
        client.endSending()
        try background.finish("the server stops")
    }
}
