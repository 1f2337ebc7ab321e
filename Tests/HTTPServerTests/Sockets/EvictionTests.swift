import HTTPServer
import TestSupport
import Testing

/// The connection that is closed for a new one when all places are taken.
struct EvictionTests {
    private static func client(_ server: TestServer, from source: UInt8) -> RawClient {
        RawClient(port: server.port, from: source)
    }

    @Test func `one address may have all places`() throws {
        let server = try TestServer { $0.connections = 20 }
        let clients = (0..<20).map { _ in server.client() }
        for client in clients { #expect(client.get("/")?.header("x-from-reserve") == "false") }
        for client in clients { #expect(client.get("/")?.status == 200) }
    }

    @Test func `a new connection gets the place of the longest idle one of an address that holds most`() throws {
        let server = try TestServer { $0.connections = 3 }
        let crowd = (0..<3).map { _ in server.client() }
        for client in [crowd[1], crowd[0], crowd[2]] { #expect(client.get("/")?.status == 200) }
        let newcomer = Self.client(server, from: 2)
        #expect(newcomer.get("/")?.header("x-from-reserve") == "false")
        #expect(crowd[1].isClosedByPeer())
        #expect(crowd[0].get("/")?.status == 200)
        #expect(crowd[2].get("/")?.status == 200)
        #expect(server.settles(connections: 3, streams: 0))
    }

    @Test func `a connection with a request under way goes after the idle ones, and after the youngest stream`() throws
    {
        let server = try TestServer { $0.connections = 4 }
        let streams = (0..<2).map { _ in server.client() }
        for (count, client) in streams.enumerated() {
            client.send("GET /stream HTTP/1.1\r\nHost: test\r\n\r\n")
            #expect(client.head()?.status == 200)
            #expect(server.probe.wait("streaming", count: count + 1))
        }
        let slow = server.client()
        slow.send("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\n\r\na")
        let idle = server.client()
        #expect(idle.get("/")?.status == 200)
        let newcomers = (2...4 as ClosedRange<UInt8>).map { Self.client(server, from: $0) }
        for newcomer in newcomers { #expect(newcomer.get("/")?.header("x-from-reserve") == "false") }
        #expect(idle.isClosedByPeer())
        #expect(streams[1].chunk() == Array("first".utf8))
        #expect(streams[1].isClosedByPeer())
        #expect(streams[0].chunk() == Array("first".utf8))
        #expect(streams[0].isClosedByPeer())
        slow.send("b")
        #expect(slow.answer()?.text == "ab")
    }

    @Test func `an address that holds as many as any gets no other's place, only health checks`() throws {
        let server = try TestServer { $0.connections = 2 }
        let first = server.client()
        let second = Self.client(server, from: 2)
        #expect(first.get("/")?.status == 200)
        #expect(second.get("/")?.status == 200)
        for source in [1, 2] as [UInt8] {
            let answer = Self.client(server, from: source).get("/")
            #expect(answer?.header("x-from-reserve") == "true")
            #expect(answer?.closes == true)
        }
        #expect(first.get("/")?.status == 200)
        #expect(second.get("/")?.status == 200)
    }

    @Test func `the places kept for health checks go to the newest`() throws {
        let server = try TestServer {
            $0.connections = 1
        }
        let only = server.client()
        #expect(only.get("/")?.status == 200)
        let idle = (0..<200).map { _ in server.client() }
        #expect(server.client().get("/")?.header("x-from-reserve") == "true")
        #expect(idle[0].isClosedByPeer())
        #expect(only.get("/")?.status == 200)
    }

    @Test func `no stream begins on a connection for health checks`() throws {
        let server = try TestServer { $0.connections = 1 }
        let only = server.client()
        #expect(only.get("/")?.status == 200)
        #expect(server.client().get("/stream")?.status == 503)
        #expect(server.client().get("/park")?.status == 503)
    }

    @Test func `many addresses with a connection each keep no other out`() throws {
        let server = try TestServer { $0.connections = 50 }
        let crowd = (1...50 as ClosedRange<UInt8>).map { Self.client(server, from: $0) }
        for client in crowd { #expect(client.get("/")?.status == 200) }
        let newcomers = (51...80 as ClosedRange<UInt8>).map { Self.client(server, from: $0) }
        for newcomer in newcomers { #expect(newcomer.get("/")?.header("x-from-reserve") == "false") }
        for newcomer in newcomers { #expect(newcomer.get("/")?.status == 200) }
        #expect(crowd[0].isClosedByPeer())
    }

    @Test func `the place of a socket in another loop is taken as well`() throws {
        let server = try TestServer(loops: 4) { $0.connections = 20 }
        let crowd = (0..<20).map { _ in server.client() }
        for client in crowd { #expect(client.get("/")?.status == 200) }
        let newcomers = (2...9 as ClosedRange<UInt8>).map { Self.client(server, from: $0) }
        for newcomer in newcomers { #expect(newcomer.get("/")?.header("x-from-reserve") == "false") }
        #expect(server.settles(connections: 20, streams: 0))
        for newcomer in newcomers { #expect(newcomer.get("/")?.status == 200) }
    }

    @Test func `a Unix socket finds a place beside all others`() throws {
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let path = directory.file("server.sock")
        let server = try TestServer([.tcp(host: "127.0.0.1", port: 0), .unix(path: path)]) { $0.connections = 2 }
        let streams = [server.client(), Self.client(server, from: 2)]
        for client in streams {
            client.send("GET /stream HTTP/1.1\r\nHost: test\r\n\r\n")
            #expect(server.probe.wait("streaming", count: client === streams[0] ? 1 : 2))
        }
        let local = (0..<3).map { _ in RawClient(path: path) }
        for client in local { #expect(client.get("/")?.header("x-from-reserve") == "false") }
        #expect(server.client().get("/")?.header("x-from-reserve") == "true")
        for client in local { #expect(client.get("/")?.status == 200) }
        server.probe.open("finish")
        for client in streams { #expect(client.answer()?.text == "first") }
    }

    @Test func `a server that stops lets go of the sockets it might have closed next`() throws {
        weak var loop: Loop?
        try {
            let server = try TestServer { $0.connections = 3 }
            loop = server.probe.loops.first
            let crowd = (0..<3).map { _ in server.client() }
            for client in crowd { #expect(client.get("/")?.status == 200) }
            #expect(Self.client(server, from: 2).get("/")?.status == 200)
            #expect(loop != nil)
        }()
        #expect(loop == nil)
    }
}
