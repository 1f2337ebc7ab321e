import HTTPServer
import TLS
import TestSupport
import Testing

struct HandshakeTests {
    private static func hello(_ client: TLSClient = TLSClient()) -> [UInt8] {
        _ = client.handshake()
        return client.takeOutput()
    }

    @Test(arguments: [12, 13] as [Int32])
    func `a client of either version is served`(version: Int32) throws {
        let server = try TestServer(isSecure: true)
        let client = RawClient(port: server.port, tls: TLSClient(version: version, protocols: ["h2", "http/1.1"]))
        #expect(client.isSecured)
        #expect(client.get("/")?.text == "hello")
    }

    @Test func `a hello may come byte by byte`() throws {
        let server = try TestServer(isSecure: true)
        let socket = RawClient(port: server.port)
        let client = TLSClient()
        for byte in Self.hello(client) { #expect(socket.send([byte])) }
        client.give(try #require(socket.receiveBytes()))
        while client.handshake() == .waits { client.give(try #require(socket.receiveBytes())) }
        for byte in client.takeOutput() { #expect(socket.send([byte])) }
        #expect(client.write(Array("GET / HTTP/1.1\r\nHost: test\r\n\r\n".utf8)))
        for byte in client.takeOutput() { #expect(socket.send([byte])) }
        var answer: [UInt8] = []
        while !answer.ends(with: Array("hello".utf8)) {
            if let bytes = client.read() { answer += bytes } else { client.give(try #require(socket.receiveBytes())) }
        }
        #expect(server.probe.count("handled") == 1)
    }

    @Test(arguments: ["GET / HTTP/1.1\r\nHost: test\r\n\r\n", "\u{16}\u{3}\u{1}\u{0}\u{4}zzzz", "\n"])
    func `a connection that begins with other bytes is closed`(text: String) throws {
        let server = try TestServer(isSecure: true)
        let client = RawClient(port: server.port)
        client.send(text)
        #expect(client.isClosedByPeer())
        #expect(server.settles(connections: 0, streams: 0))
        #expect(server.client().get("/")?.status == 200)
    }

    @Test func `a broken hello is closed`() throws {
        let server = try TestServer(isSecure: true)
        let client = RawClient(port: server.port)
        var hello = Self.hello()
        for place in 20..<hello.count { hello[place] ^= 0x5a }
        client.send(hello)
        _ = client.rest()
        #expect(server.settles(connections: 0, streams: 0))
    }

    @Test func `a client of HTTP/2 alone gets an alert`() throws {
        let server = try TestServer(isSecure: true)
        let tls = TLSClient(protocols: ["h2"])
        let client = RawClient(port: server.port, tls: tls)
        #expect(!client.isSecured)
        #expect(tls.alert == 120)
        #expect(server.settles(connections: 0, streams: 0))
    }

    @Test func `a connection counts from its accept, before any byte`() throws {
        let server = try TestServer(isSecure: true)
        let silent = RawClient(port: server.port)
        #expect(server.settles(connections: 1, streams: 0))
        let begun = RawClient(port: server.port)
        begun.send(Array(Self.hello().prefix(100)))
        let ready = server.client()
        #expect(ready.isSecured)
        #expect(server.settles(connections: 3, streams: 0))
        silent.reset()
        begun.reset()
        #expect(server.settles(connections: 1, streams: 0))
        #expect(ready.get("/")?.status == 200)
        #expect(server.settles(connections: 1, streams: 0))
        ready.endSending()
        #expect(server.settles(connections: 0, streams: 0))
    }

    @Test func `a client that sends nothing is closed after the time for its first byte`() throws {
        let server = try TestServer(isSecure: true) {
            $0.firstByteSeconds = 1
            $0.requestSeconds = 1000
        }
        #expect(RawClient(port: server.port).isClosedByPeer())
        // The time holds again once the handshake is done.
        #expect(server.client().isClosedByPeer())
        let slow = RawClient(port: server.port)
        slow.send(Array(Self.hello().prefix(3)))
        #expect(RawClient(port: server.port).isClosedByPeer())
        #expect(server.settles(connections: 1, streams: 0))
    }

    @Test(arguments: [3, 100])
    func `a handshake that stops is closed after the time of a request`(bytes: Int) throws {
        let server = try TestServer(isSecure: true) { $0.requestSeconds = 1 }
        let client = RawClient(port: server.port)
        client.send(Array(Self.hello().prefix(bytes)))
        #expect(client.isClosedByPeer())
        #expect(server.settles(connections: 0, streams: 0))
    }

    @Test func `a newcomer takes the place of a connection without a request`() throws {
        let server = try TestServer(isSecure: true) { $0.connections = 2 }
        let idle = server.client()
        #expect(idle.get("/")?.status == 200)
        let silent = RawClient(port: server.port)
        #expect(server.settles(connections: 2, streams: 0))
        let newcomer = server.client(from: 2)
        #expect(newcomer.get("/")?.header("x-from-reserve") == "false")
        #expect(silent.isClosedByPeer())
        #expect(server.client(from: 2).get("/")?.header("x-from-reserve") == "true")
        #expect(idle.get("/")?.status == 200)
    }

    @Test func `an address has no more connections than it may`() throws {
        let server = try TestServer(isSecure: true) { $0.connectionsPerAddress = 2 }
        let clients = (0..<2).map { _ in server.client() }
        #expect(!server.client().isSecured)
        for client in clients { #expect(client.get("/")?.status == 200) }
        #expect(server.client(from: 2).get("/")?.status == 200)
    }

    @Test func `many handshakes at once are all done`() throws {
        let server = try TestServer(isSecure: true, loops: 2)
        let sockets = (0..<100).map { _ in (RawClient(port: server.port), TLSClient()) }
        for (socket, tls) in sockets { socket.send(Self.hello(tls)) }
        for (socket, tls) in sockets {
            while tls.handshake() == .waits { tls.give(try #require(socket.receiveBytes())) }
            socket.send(tls.takeOutput())
        }
        for (socket, tls) in sockets {
            #expect(tls.write(Array("GET / HTTP/1.1\r\nHost: test\r\n\r\n".utf8)))
            socket.flush(tls)
        }
        #expect(server.probe.wait("handled", count: 100))
    }

    @Test func `a new certificate is for connections that come after it`() throws {
        let first = try TestCertificate.shared.get().context()
        let server = try TestServer([.tcp(host: "127.0.0.1", port: 0, isSecure: true)], tls: first)
        let client = server.client()
        #expect(client.get("/")?.status == 200)
        server.server.replaceTLS(try TestCertificate(days: 30).context(replacing: first))
        let tls = TLSClient()
        #expect(RawClient(port: server.port, tls: tls).get("/")?.status == 200)
        #expect(tls.peerExpiry > first.notAfter)
        #expect(client.get("/")?.status == 200)
    }

    @Test func `a server without a certificate does not listen with TLS`() {
        #expect(throws: ListenError.self) {
            _ = try TestServer([.tcp(host: "127.0.0.1", port: 0, isSecure: true)])
        }
    }
}

extension [UInt8] {
    fileprivate func ends(with end: [UInt8]) -> Bool { suffix(end.count).elementsEqual(end) }
}
