import HTTPServer
import TestSupport
import Testing

struct ExchangeTests {
    @Test func `a connection serves one request after another`() throws {
        let server = try TestServer()
        let client = server.client()
        for _ in 0..<3 {
            let answer = try #require(client.get("/a?b=c%20d"))
            #expect(answer.status == 200)
            #expect(answer.header("x-target") == "/a?b=c%20d")
            #expect(answer.text == "hello")
            #expect(answer.header("date")?.hasSuffix(" GMT") == true)
            #expect(!answer.closes)
        }
        #expect(server.server.connectionCount == 1)
    }

    @Test func `pipelined requests are answered in order`() throws {
        let server = try TestServer()
        let client = server.client()
        let count = 500
        client.send((0..<count).map { "GET /\($0) HTTP/1.1\r\nHost: test\r\n\r\n" }.joined())
        for index in 0..<count { #expect(client.answer()?.header("x-target") == "/\(index)") }
    }

    @Test func `pipelined requests behind a late answer wait for it`() throws {
        let server = try TestServer()
        let client = server.client()
        client.send("GET /later HTTP/1.1\r\nHost: test\r\n\r\n")
        #expect(server.probe.wait("kept"))
        client.send("GET /next HTTP/1.1\r\nHost: test\r\n\r\n")
        server.probe.open("later")
        #expect(client.answer()?.text == "late")
        #expect(client.answer()?.header("x-target") == "/next")
    }

    @Test func `HEAD has the length and no body`() throws {
        let server = try TestServer()
        let client = server.client()
        client.send("HEAD / HTTP/1.1\r\nHost: test\r\n\r\n")
        let answer = try #require(client.answer(isHead: true))
        #expect(answer.status == 200)
        #expect(answer.header("content-length") == "5")
        #expect(client.get("/next")?.text == "hello")
    }

    @Test(arguments: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
    func `every method arrives`(method: String) throws {
        let server = try TestServer()
        let client = server.client()
        client.send("\(method) / HTTP/1.1\r\nHost: test\r\n\r\n")
        #expect(client.answer(isHead: method == "HEAD")?.header("x-method") == method.lowercased())
    }

    @Test func `an unknown method is other`() throws {
        let server = try TestServer()
        let client = server.client()
        client.send("BREW / HTTP/1.1\r\nHost: test\r\n\r\n")
        #expect(client.answer()?.header("x-method") == "other")
    }

    @Test func `OPTIONS of the whole server has the target *`() throws {
        let server = try TestServer()
        let client = server.client()
        client.send("OPTIONS * HTTP/1.1\r\nHost: test\r\n\r\n")
        #expect(client.answer()?.header("x-target") == "*")
    }

    @Test(arguments: [
        ("http://example.org:81/a?b", "/a?b", "example.org:81"), ("HTTP://example.org", "/", "example.org"),
        ("http://example.org?q", "/?q", "example.org"), ("https://[::1]/", "/", "[::1]"), ("/a", "/a", "test"),
    ])
    func `an absolute target is reduced to its path`(target: String, path: String, authority: String) throws {
        let server = try TestServer()
        let client = server.client()
        let answer = try #require(client.get(target))
        #expect(answer.header("x-target") == path)
        #expect(answer.header("x-authority") == authority)
    }

    @Test func `a body waits for 100 Continue`() throws {
        let server = try TestServer()
        let client = server.client()
        client.send("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n")
        #expect(client.answer()?.status == 100)
        client.send("body")
        #expect(client.answer()?.text == "body")
    }

    @Test func `a chunked body arrives whole`() throws {
        let server = try TestServer()
        let client = server.client()
        client.send("POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n4;x=y\r\nbody\r\n")
        client.send("4\r\n and\r\n0\r\nTrailer: t\r\n\r\n")
        #expect(client.answer()?.text == "body and")
        #expect(client.get("/next")?.status == 200)
    }

    @Test func `a large body comes and goes`() throws {
        // The body is made before the client connects, as the client's first byte must come in time.
        let body = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let server = try TestServer()
        let client = server.client()
        client.send("PUT / HTTP/1.1\r\nHost: test\r\nContent-Length: \(body.count)\r\n\r\n")
        client.send(body)
        #expect(client.answer()?.body == body)
        #expect(client.get("/large")?.body.count == 3_000_000)
        #expect(client.get("/")?.text == "hello")
    }

    @Test func `204 has neither body nor length`() throws {
        let server = try TestServer()
        let client = server.client()
        let answer = try #require(client.get("/empty"))
        #expect(answer.status == 204)
        #expect(answer.header("content-length") == nil)
        #expect(client.get("/")?.status == 200)
    }

    @Test func `HTTP 1_0 is answered and closed`() throws {
        let server = try TestServer()
        let client = server.client()
        client.send("GET / HTTP/1.0\r\n\r\n")
        #expect(client.answer()?.closes == true)
        #expect(client.isClosedByPeer())
    }

    @Test func `a client that half-closes gets its answer`() throws {
        let server = try TestServer()
        let client = server.client()
        client.send("GET / HTTP/1.1\r\nHost: test\r\n\r\n")
        client.endSending()
        #expect(client.answer()?.text == "hello")
        #expect(client.isClosedByPeer())
        #expect(server.settles(connections: 0, streams: 0))
    }

    @Test func `headers arrive in order without the white space around them`() throws {
        let server = try TestServer()
        let client = server.client()
        let answer = client.get("/headers", headers: "A:1\r\nb:  two words \t\r\nA: 3\r\nEmpty:\r\n")
        #expect(answer?.text == "Host=test;A=1;b=two words;A=3;Empty=;")
    }

    @Test func `no header value of an answer starts a new line`() throws {
        let server = try TestServer()
        let answer = try #require(server.client().get("/"))
        #expect(answer.header("x-bytes") == "a  Injected: b")
        #expect(answer.header("injected") == nil)
    }

    @Test func `a refused request is answered and the connection goes on`() throws {
        let server = try TestServer()
        let client = server.client()
        #expect(client.get("/forbidden")?.status == 403)
        client.send("POST /forbidden HTTP/1.1\r\nHost: test\r\nContent-Length: 5\r\n\r\nabcde")
        #expect(client.answer()?.status == 403)
        client.send("POST /forbidden HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n")
        #expect(client.answer()?.status == 403)
        #expect(client.get("/")?.status == 200)
        #expect(server.probe.count("handled") == 1)
    }

    @Test func `a refused request that waits for 100 gets none`() throws {
        let server = try TestServer()
        let client = server.client()
        client.send("POST /forbidden HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
        let answer = try #require(client.answer())
        #expect(answer.status == 403)
        #expect(answer.closes)
        client.endSending()
        #expect(client.isClosedByPeer())
    }
}
