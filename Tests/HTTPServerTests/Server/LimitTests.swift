import HTTPServer
import TestSupport
import Testing

struct LimitTests {
    @Test func `a head over the limit is 431`() throws {
        let server = try TestServer()
        let client = server.client()
        let answer = try #require(client.get("/", headers: "X: \(String(repeating: "a", count: 8300))\r\n"))
        #expect(answer.status == 431)
        #expect(answer.header("content-type") == "application/problem+json")
        #expect(client.isClosedByPeer())
    }

    @Test func `a head at the limit is served`() throws {
        let server = try TestServer()
        let fixed = "GET / HTTP/1.1\r\nHost: test\r\nX: \r\n\r\n".utf8.count
        let most = String(repeating: "a", count: 8192 - fixed)
        #expect(server.client().get("/", headers: "X: \(most)\r\n")?.status == 200)
        #expect(server.client().get("/", headers: "X: \(most)a\r\n")?.status == 431)
    }

    @Test func `more header lines than the limit are 431`() throws {
        let server = try TestServer()
        #expect(server.client().get("/", headers: String(repeating: "A: b\r\n", count: 99))?.status == 200)
        #expect(server.client().get("/", headers: String(repeating: "A: b\r\n", count: 100))?.status == 431)
    }

    @Test func `as many header lines as may be, in a head of as many bytes as may be, are served`() throws {
        let server = try TestServer()
        let lines = String(repeating: "Name: \(String(repeating: "v", count: 72))\r\n", count: 99)
        let fixed = "GET / HTTP/1.1\r\nHost: test\r\n\r\n".utf8.count + lines.utf8.count
        let target = "/" + String(repeating: "t", count: 8192 - fixed)
        #expect(server.client().get(target, headers: lines)?.status == 200)
        #expect(server.client().get(target + "t", headers: lines)?.status == 431)
    }

    @Test func `a target over the limit is 414`() throws {
        let server = try TestServer()
        #expect(server.client().get("/" + String(repeating: "a", count: 4095))?.status == 200)
        let answer = try #require(server.client().get("/" + String(repeating: "a", count: 4096)))
        #expect(answer.status == 414)
        #expect(answer.header("content-type") == "application/problem+json")
    }

    @Test(arguments: ["&", "a&", "a=b&", "=", "%00"])
    func `any query of the longest target gets an answer`(piece: String) throws {
        let server = try TestServer()
        let query = String(repeating: piece, count: 4000 / piece.utf8.count)
        let client = server.client()
        for _ in 0..<2 {
            let answer = client.get("/?" + query)
            #expect(answer?.status == 200)
            #expect(answer?.header("x-target")?.utf8.count == 2 + query.utf8.count)
        }
    }

    @Test(arguments: [20_000, 200_000])
    func `an endless request line is refused`(length: Int) throws {
        let server = try TestServer()
        let client = server.client()
        client.send("GET /" + String(repeating: "a", count: length))
        client.endSending()
        if let answer = client.answer() { #expect([400, 414, 431].contains(answer.status)) }
        #expect(server.settles(connections: 0, streams: 0))
    }

    @Test func `a body over the limit is 413 and read so far that the connection goes on`() throws {
        let server = try TestServer(bodyLimit: 10)
        let client = server.client()
        client.send("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 11\r\n\r\nabcdefghijk")
        let answer = try #require(client.answer())
        #expect(answer.status == 413)
        #expect(!answer.closes)
        client.send("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 10\r\n\r\nabcdefghij")
        #expect(client.answer()?.text == "abcdefghij")
    }

    @Test func `a body over the limit is 413 before it is sent`() throws {
        let server = try TestServer(bodyLimit: 10)
        let client = server.client()
        client.send("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 11\r\nExpect: 100-continue\r\n\r\n")
        #expect(client.answer()?.status == 413)
        client.endSending()
        #expect(client.isClosedByPeer())
    }

    @Test(arguments: [true, false])
    func `a body far over the limit is 413 and cut, and the client reads the answer`(isChunked: Bool) throws {
        let server = try TestServer(bodyLimit: 10) { $0.drainBodyBytes = 300_000 }
        let client = server.client()
        let length = 500_000
        let framing = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(length)"
        client.send("POST / HTTP/1.1\r\nHost: test\r\n\(framing)\r\n\r\n")
        if isChunked { client.send(String(length, radix: 16) + "\r\n") }
        client.send([UInt8](repeating: 0x61, count: length))
        let answer = try #require(client.answer())
        #expect(answer.status == 413)
        #expect(answer.closes)
        client.endSending()
        #expect(client.isClosedByPeer())
        #expect(server.settles(connections: 0, streams: 0))
    }

    @Test(arguments: [true, false])
    func `larger bodies that exceed their bound together are refused, small ones are not`(isLeft: Bool) throws {
        let server = try TestServer(bodyLimit: 1_000_000) { $0.bodyBytes = 300_000 }
        let post = "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: "
        let large = String(repeating: "a", count: 200_000)
        let first = server.client()
        first.send(post + "200001\r\n\r\n" + large)
        #expect(server.settles(bodyBytes: 200_000))
        let second = server.client()
        second.send(post + "200000\r\n\r\n" + large)
        #expect(second.answer()?.status == 503)
        let small = server.client()
        small.send(post + "3\r\n\r\nabc")
        #expect(small.answer()?.text == "abc")
        if isLeft {
            first.reset()
            #expect(server.settles(connections: 2, streams: 0))
        } else {
            first.send("a")
            #expect(first.answer()?.text.utf8.count == 200_001)
        }
        small.send(post + "200000\r\n\r\n" + large)
        #expect(small.answer()?.text.utf8.count == 200_000)
        #expect(server.settles(bodyBytes: 0))
    }

    @Test func `a body that is refused is not held while the rest of it comes`() throws {
        let server = try TestServer(bodyLimit: 250_000) { $0.drainBodyBytes = 300_000 }
        let client = server.client()
        client.send("POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n493e0\r\n")
        client.send([UInt8](repeating: 0x61, count: 200_000))
        #expect(server.settles(bodyBytes: 200_000))
        client.send([UInt8](repeating: 0x61, count: 99_999))
        #expect(server.settles(bodyBytes: 0))
        client.send("a\r\n0\r\n\r\n")
        #expect(client.answer()?.status == 413)
    }

    @Test func `a larger answer is counted until it is read or its reader has gone`() throws {
        let server = try TestServer()
        let client = server.client()
        client.send("GET /huge HTTP/1.1\r\nHost: test\r\n\r\n")
        #expect(server.settles(answerBytes: 40_000_000))
        let reader = server.client()
        #expect(reader.get("/large")?.body.count == 3_000_000)
        #expect(server.settles(answerBytes: 40_000_000))
        client.reset()
        #expect(server.settles(answerBytes: 0))
        #expect(reader.get("/")?.status == 200)
    }

    @Test func `a chunked body over the limit is 413`() throws {
        let server = try TestServer(bodyLimit: 10)
        let client = server.client()
        client.send("POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\nb\r\nabcdefghijk\r\n")
        client.send("0\r\n\r\n")
        #expect(client.answer()?.status == 413)
        #expect(client.get("/")?.status == 200)
    }

    @Test func `an idle connection is closed`() throws {
        let server = try TestServer { $0.idleSeconds = 1 }
        let client = server.client()
        #expect(client.get("/")?.status == 200)
        #expect(client.isClosedByPeer())
    }

    @Test func `a connection without a request so far is not idle`() throws {
        let server = try TestServer { $0.idleSeconds = 1 }
        let client = server.client()
        client.send("GET / HT")
        #expect(server.probe.wait("tick", count: server.probe.count("tick") + 4))
        client.send("TP/1.1\r\nHost: test\r\n\r\n")
        #expect(client.answer()?.status == 200)
    }

    @Test(arguments: [
        "", "GET / HT", "GET / HTTP/1.1\r\nHo", "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 9\r\n\r\nab",
    ])
    func `a request that does not end is cut`(start: String) throws {
        let server = try TestServer { $0.requestSeconds = 1 }
        let client = server.client()
        client.send(start)
        #expect(client.isClosedByPeer())
        #expect(server.settles(connections: 0, streams: 0))
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\nHost: test\r\n\r\n", "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 3\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\n\r\n",
    ])
    func `a further request that does not end is cut, and a quiet connection is kept`(first: String) throws {
        let server = try TestServer {
            $0.requestSeconds = 1
            $0.idleSeconds = 600
        }
        let quiet = server.client()
        let begun = server.client()
        for client in [quiet, begun] {
            for _ in 0..<2 {
                client.send(first)
                #expect(client.answer()?.status == 200)
            }
        }
        begun.send("GET / HT")
        #expect(begun.isClosedByPeer())
        #expect(server.settles(connections: 1, streams: 0))
        #expect(server.probe.wait("tick", count: server.probe.count("tick") + 3))
        #expect(quiet.get("/")?.status == 200)
    }

    @Test func `an awaited answer outlives the limits on idle connections`() throws {
        let server = try TestServer {
            $0.idleSeconds = 1
            $0.requestSeconds = 1
            $0.responseSeconds = 1
        }
        let client = server.client()
        client.send("GET /later HTTP/1.1\r\nHost: test\r\n\r\n")
        #expect(server.probe.wait("tick", count: 4))
        server.probe.open("later")
        #expect(client.answer()?.text == "late")
    }

    @Test func `an answer that the client does not read is given up`() throws {
        let server = try TestServer { $0.responseSeconds = 1 }
        let client = server.client()
        client.send("GET /huge HTTP/1.1\r\nHost: test\r\n\r\n")
        #expect(server.probe.wait("handled"))
        #expect(server.settles(connections: 0, streams: 0))
    }

    @Test func `one address has so many connections, streams among them`() throws {
        let server = try TestServer { $0.connectionsPerAddress = 2 }
        let stream = server.client()
        stream.send("GET /stream HTTP/1.1\r\nHost: test\r\n\r\n")
        #expect(stream.head()?.status == 200)
        let second = server.client()
        #expect(second.get("/")?.status == 200)
        #expect(server.client().get("/") == nil)
        stream.reset()
        #expect(server.settles(connections: 1, streams: 0))
        #expect(server.client().get("/")?.status == 200)
    }

    @Test func `a new connection without a byte is closed before one that has sent some of its request`() throws {
        let server = try TestServer {
            $0.firstByteSeconds = 1
            $0.requestSeconds = 600
        }
        let silent = server.client()
        let slow = server.client()
        slow.send("G")
        #expect(silent.isClosedByPeer())
        #expect(server.settles(connections: 1, streams: 0))
        #expect(server.probe.wait("tick", count: server.probe.count("tick") + 2))
        slow.send("ET / HTTP/1.1\r\nHost: test\r\n\r\n")
        #expect(slow.answer()?.status == 200)
    }
}
