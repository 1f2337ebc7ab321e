import HTTPServer
import TestSupport
import Testing

/// Streams and parked answers whose bytes go to TLS without the library.
struct SecureStreamTests {
    private static let request = "GET /stream HTTP/1.1\r\nHost: test\r\n\r\n"

    @Test func `a stream's chunks arrive and end with the last one, and close_notify`() throws {
        let server = try TestServer(isSecure: true)
        let tls = TLSClient()
        let client = RawClient(port: server.port, tls: tls)
        #expect(client.get("/")?.status == 200)
        client.send(Self.request)
        #expect(client.head()?.status == 200)
        #expect(client.chunk() == Array("first".utf8))
        #expect(server.settles(connections: 0, streams: 1))
        server.probe.open("finish")
        #expect(client.chunk() == [])
        #expect(client.isClosedByPeer())
        #expect(tls.isEnded)
        client.endSending()
        #expect(server.probe.wait("closed"))
        #expect(server.settles(connections: 0, streams: 0))
    }

    @Test func `an aborted stream has neither a last chunk nor close_notify`() throws {
        let server = try TestServer(isSecure: true)
        let tls = TLSClient()
        let client = RawClient(port: server.port, tls: tls)
        client.send(Self.request)
        #expect(client.head()?.status == 200)
        #expect(client.chunk()?.count == 5)
        server.probe.open("abort")
        #expect(client.chunk() == nil)
        #expect(!tls.isEnded)
        #expect(server.probe.wait("closed"))
    }

    @Test func `a long finished stream arrives whole though the client sent more`() throws {
        let server = try TestServer(isSecure: true) { $0.streamBufferBytes = 2_000_000 }
        let client = server.client()
        client.send("GET /finish HTTP/1.1\r\nHost: test\r\n\r\nGET /lost HTTP/1.1\r\nHost: test\r\n\r\n")
        #expect(server.probe.wait("streaming"))
        client.send("more")
        #expect(client.answer()?.body.count == 5 + 8_000_000)
        #expect(client.isClosedByPeer())
        #expect(!client.sawReset)
        #expect(server.probe.wait("closed"))
    }

    @Test(arguments: [true, false])
    func `a client that leaves is noticed at once`(isReset: Bool) throws {
        let server = try TestServer(isSecure: true)
        var client: RawClient? = server.client()
        client?.send(Self.request)
        #expect(client?.head()?.status == 200)
        #expect(client?.chunk() == Array("first".utf8))
        if isReset { client?.reset() }
        client = nil
        #expect(server.probe.wait("closed"))
        #expect(server.settles(connections: 0, streams: 0))
    }

    @Test func `a client that sends nothing more reads its stream on`() throws {
        let server = try TestServer(isSecure: true)
        let client = server.client()
        client.send(Self.request)
        #expect(client.head()?.status == 200)
        #expect(client.chunk() == Array("first".utf8))
        client.endSending()
        #expect(client.chunk() == TestHandler.filler)
        #expect(server.settles(connections: 0, streams: 1))
        server.probe.open("finish")
        #expect(client.chunk() == [])
        #expect(client.isClosedByPeer())
    }

    @Test func `bytes and new keys of a client are taken while its stream lasts`() throws {
        let server = try TestServer(isSecure: true)
        let tls = TLSClient()
        let client = RawClient(port: server.port, tls: tls)
        client.send(Self.request)
        #expect(client.head()?.status == 200)
        #expect(client.chunk() == Array("first".utf8))
        for _ in 0..<10 {
            client.send("more")
            #expect(tls.updateKeys())
            client.flush(tls)
        }
        server.probe.open("finish")
        #expect(client.chunk() == [])
        #expect(client.isClosedByPeer())
    }

    @Test func `what a slow reader does not take is buffered, and the handler told when it has caught up`() throws {
        let server = try TestServer(isSecure: true)
        let client = server.client()
        client.send("GET /flood HTTP/1.1\r\nHost: test\r\n\r\n")
        #expect(server.probe.wait("full"))
        #expect(client.head()?.status == 200)
        var last: [UInt8]?
        while let chunk = client.chunk() {
            last = chunk
            if chunk == Array("again".utf8) { break }
        }
        #expect(last == Array("again".utf8))
        #expect(server.probe.count("writable") > 0)
    }

    @Test func `many streams come and go`() throws {
        let server = try TestServer(isSecure: true, loops: 2)
        var clients = (0..<100).map { _ in server.client() }
        for client in clients { client.send(Self.request) }
        for client in clients {
            #expect(client.head()?.status == 200)
            #expect(client.chunk()?.count == 5)
        }
        #expect(server.settles(connections: 0, streams: 100))
        for client in clients.prefix(50) { client.reset() }
        clients = []
        #expect(server.settles(connections: 0, streams: 0))
        #expect(server.probe.wait("closed", count: 100))
    }

    @Test func `a parked answer is sent when it is ready`() throws {
        let server = try TestServer(isSecure: true)
        let client = server.client()
        client.send("GET /park HTTP/1.1\r\nHost: test\r\n\r\n")
        #expect(server.probe.wait("parked"))
        #expect(server.settles(connections: 0, streams: 1))
        server.probe.open("parked")
        let answer = try #require(client.answer())
        #expect(answer.text == "parked")
        #expect(answer.closes)
        #expect(client.isClosedByPeer())
        client.endSending()
        #expect(server.settles(connections: 0, streams: 0))
    }

    @Test func `a client that leaves its parked answer is noticed`() throws {
        let server = try TestServer(isSecure: true)
        let client = server.client()
        client.send("GET /park HTTP/1.1\r\nHost: test\r\n\r\n")
        #expect(server.probe.wait("parked"))
        client.reset()
        #expect(server.probe.wait("parkedClosed"))
        #expect(server.settles(connections: 0, streams: 0))
    }

    @Test func `over the limit the handler answers in the ordinary way`() throws {
        let server = try TestServer(isSecure: true) { $0.streams = 1 }
        let first = server.client()
        first.send(Self.request)
        #expect(first.head()?.status == 200)
        let second = server.client()
        #expect(second.get("/stream")?.text == "limitReached")
        #expect(second.get("/")?.status == 200)
    }
}
