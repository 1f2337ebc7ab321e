import HTTPServer
import TestSupport
import Testing

struct DetachedTests {
    @Test func `a stream's chunks arrive and end with the last one`() throws {
        let server = try TestServer()
        let client = server.client()
        client.send("GET /stream HTTP/1.1\r\nHost: test\r\n\r\n")
        let head = try #require(client.head())
        #expect(head.status == 200)
        #expect(head.header("transfer-encoding") == "chunked")
        #expect(head.header("content-type") == "text/plain")
        #expect(head.header("date")?.hasSuffix(" GMT") == true)
        #expect(head.closes)
        #expect(client.chunk() == Array("first".utf8))
        #expect(server.settles(connections: 0, streams: 1))
        server.probe.open("finish")
        #expect(client.chunk() == [])
        #expect(client.isClosedByPeer())
        client.endSending()
        #expect(server.probe.wait("closed"))
        #expect(server.settles(connections: 0, streams: 0))
    }

    @Test func `a long finished stream arrives whole though the client sent more`() throws {
        let server = try TestServer { $0.streamBufferBytes = 2_000_000 }
        let client = server.client()
        client.send("GET /finish HTTP/1.1\r\nHost: test\r\n\r\nGET /lost HTTP/1.1\r\nHost: test\r\n\r\n")
        #expect(server.probe.wait("streaming"))
        client.send("more")
        #expect(client.answer()?.body.count == 5 + 8_000_000)
        #expect(client.isClosedByPeer())
        #expect(!client.sawReset)
        #expect(server.probe.wait("closed"))
        #expect(server.probe.count("closed") == 1)
    }

    @Test func `an aborted stream has no last chunk`() throws {
        let server = try TestServer()
        let client = server.client()
        client.send("GET /stream HTTP/1.1\r\nHost: test\r\n\r\n")
        #expect(client.head()?.status == 200)
        #expect(client.chunk()?.count == 5)
        server.probe.open("abort")
        #expect(client.chunk() == nil)
        #expect(server.probe.wait("closed"))
    }

    @Test(arguments: [true, false])
    func `a client that leaves is noticed at once`(isReset: Bool) throws {
        let server = try TestServer()
        var client: RawClient? = server.client()
        client?.send("GET /stream HTTP/1.1\r\nHost: test\r\n\r\n")
        #expect(client?.head()?.status == 200)
        #expect(client?.chunk() == Array("first".utf8))
        if isReset { client?.reset() }
        client = nil
        #expect(server.probe.wait("closed"))
        #expect(server.settles(connections: 0, streams: 0))
    }

    @Test(arguments: [true, false])
    func `a client that sends nothing more reads its stream on`(isAtOnce: Bool) throws {
        let server = try TestServer()
        let client = server.client()
        client.send("GET /stream HTTP/1.1\r\nHost: test\r\n\r\n")
        if isAtOnce { client.endSending() }
        #expect(client.head()?.status == 200)
        #expect(client.chunk() == Array("first".utf8))
        client.endSending()
        #expect(client.chunk() == TestHandler.filler)
        #expect(server.settles(connections: 0, streams: 1))
        #expect(server.probe.count("closed") == 0)
        server.probe.open("finish")
        #expect(client.chunk() == [])
        #expect(client.isClosedByPeer())
    }

    @Test func `what a slow reader that sends nothing more does not take is buffered`() throws {
        let server = try TestServer()
        let client = server.client()
        client.send("GET /flood HTTP/1.1\r\nHost: test\r\n\r\n")
        client.endSending()
        #expect(server.probe.wait("full"))
        #expect(client.head()?.status == 200)
        var last: [UInt8]?
        while let chunk = client.chunk() {
            last = chunk
            if chunk == Array("again".utf8) { break }
        }
        #expect(last == Array("again".utf8))
    }

    @Test func `a Unix socket's client that sends nothing more reads on, and is noticed when it leaves`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("socket")
        let server = try TestServer([.unix(path: path)])
        var client: RawClient? = RawClient(path: path)
        client?.send("GET /stream HTTP/1.1\r\nHost: test\r\n\r\n")
        client?.endSending()
        #expect(client?.head()?.status == 200)
        #expect(client?.chunk() == Array("first".utf8))
        #expect(client?.chunk() == TestHandler.filler)
        #expect(server.probe.count("closed") == 0)
        client = nil
        #expect(server.probe.wait("closed"))
    }

    @Test func `what a slow reader does not take is buffered, and the handler told when it has caught up`() throws {
        let server = try TestServer()
        let client = server.client()
        client.send("GET /flood HTTP/1.1\r\nHost: test\r\n\r\n")
        #expect(server.probe.wait("full"))
        #expect(client.head()?.status == 200)
        var last: [UInt8]?
        while let chunk = client.chunk() {
            last = chunk
            if chunk.count == 5, chunk == Array("again".utf8) { break }
        }
        #expect(last == Array("again".utf8))
        #expect(server.probe.count("writable") > 0)
    }

    @Test func `a stream that buffers far too much is cut`() throws {
        let server = try TestServer { $0.streamBufferBytes = 1000 }
        let client = server.client()
        client.send("GET /flood HTTP/1.1\r\nHost: test\r\n\r\n")
        #expect(server.probe.wait("closed"))
    }

    @Test func `HTTP 1_0 gets the stream as it is`() throws {
        let server = try TestServer { $0.streamBufferBytes = 2_000_000 }
        let client = server.client()
        client.send("GET /finish HTTP/1.0\r\n\r\n")
        let head = try #require(client.head())
        #expect(head.header("transfer-encoding") == nil)
        #expect(head.closes)
        #expect(client.rest().count == 5 + 8_000_000)
    }

    @Test(arguments: ["HEAD", "POST"])
    func `only GET becomes a stream`(method: String) throws {
        let server = try TestServer()
        let client = server.client()
        client.send("\(method) /stream HTTP/1.1\r\nHost: test\r\n\r\n")
        let answer = try #require(client.answer(isHead: method == "HEAD"))
        #expect(answer.status == 503)
        if method == "POST" { #expect(answer.text == "notGet") }
        #expect(server.server.forgottenAnswers == 0)
    }

    @Test(arguments: ["/stream", "/park"])
    func `over the limit the handler answers in the ordinary way`(path: String) throws {
        let server = try TestServer { $0.streams = 1 }
        let first = server.client()
        first.send("GET /stream HTTP/1.1\r\nHost: test\r\n\r\n")
        #expect(first.head()?.status == 200)
        let second = server.client()
        #expect(second.get(path)?.text == "limitReached")
        #expect(second.get("/")?.status == 200)
        #expect(server.server.forgottenAnswers == 0)
        first.reset()
        #expect(server.settles(connections: 1, streams: 0))
        second.send("GET /stream HTTP/1.1\r\nHost: test\r\n\r\n")
        #expect(second.head()?.status == 200)
    }

    @Test func `many streams come and go`() throws {
        let server = try TestServer(loops: 2)
        for _ in 0..<3 {
            var clients = (0..<100).map { _ in server.client() }
            for client in clients { client.send("GET /stream HTTP/1.1\r\nHost: test\r\n\r\n") }
            for client in clients {
                #expect(client.head()?.status == 200)
                #expect(client.chunk()?.count == 5)
            }
            #expect(server.server.streamCount == 100)
            for client in clients.prefix(50) { client.reset() }
            clients = []
            #expect(server.settles(connections: 0, streams: 0))
        }
        #expect(server.probe.wait("closed", count: 300))
        #expect(server.probe.count("closed") == 300)
    }

    @Test(arguments: ["GET", "HEAD", "POST"])
    func `a parked answer is sent when it is ready`(method: String) throws {
        let server = try TestServer()
        let client = server.client()
        client.send("\(method) /park HTTP/1.1\r\nHost: test\r\n\r\n")
        #expect(server.probe.wait("parked"))
        #expect(server.settles(connections: 0, streams: 1))
        server.probe.open("parked")
        let answer = try #require(client.answer(isHead: method == "HEAD"))
        #expect(answer.status == 200)
        #expect(answer.header("content-length") == "6")
        #expect(answer.header("etag") == "\"v1\"")
        #expect(answer.closes)
        if method != "HEAD" { #expect(answer.text == "parked") }
        #expect(client.isClosedByPeer())
        client.endSending()
        #expect(server.settles(connections: 0, streams: 0))
        #expect(server.probe.count("parkedClosed") == 0)
    }

    @Test func `a client that leaves its parked answer is noticed`() throws {
        let server = try TestServer()
        let client = server.client()
        client.send("GET /park HTTP/1.1\r\nHost: test\r\n\r\n")
        #expect(server.probe.wait("parked"))
        client.reset()
        #expect(server.probe.wait("parkedClosed"))
        server.probe.open("parked")
        #expect(server.settles(connections: 0, streams: 0))
        #expect(server.probe.count("parkedClosed") == 1)
    }

    @Test func `a client that closes before its parked answer is noticed`() throws {
        let server = try TestServer()
        var client: RawClient? = server.client()
        client?.send("GET /park HTTP/1.1\r\nHost: test\r\n\r\n")
        #expect(server.probe.wait("parked"))
        client = nil
        #expect(server.probe.wait("parkedClosed"))
        #expect(server.settles(connections: 0, streams: 0))
    }

    @Test(arguments: [true, false])
    func `a client that sends nothing more gets its parked answer`(isAtOnce: Bool) throws {
        let server = try TestServer()
        let client = server.client()
        client.send("GET /park HTTP/1.1\r\nHost: test\r\n\r\n")
        if isAtOnce { client.endSending() }
        #expect(server.probe.wait("parked"))
        client.endSending()
        // The first bytes of the answer show that the server noticed the end.
        #expect(client.take(9) == Array("HTTP/1.1 ".utf8))
        server.probe.open("parked")
        let rest = String(decoding: client.rest(), as: UTF8.self)
        #expect(rest.hasPrefix("200 OK\r\n") && rest.hasSuffix("\r\n\r\nparked"))
        #expect(!rest.contains("HTTP/1.1"))
        #expect(server.probe.count("parkedClosed") == 0)
        #expect(server.settles(connections: 0, streams: 0))
    }
}
