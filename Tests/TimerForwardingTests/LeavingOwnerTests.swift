import Glibc
import Platform
import TestSupport
import Testing
import TimerForwarding
import TimerLog

@testable import PeerHTTP

/// An owner of the log whose side the test plays: a listener at which one server forwards its requests.
private final class PlayedOwner: HTTP2Events {
    let port: UInt16
    let session = HTTP2Session(.server)
    /// The streams whose requests have come whole.
    private(set) var requests: [Int32] = []
    private let listener: Int32
    private var socket: Int32 = -1
    private var received: [UInt8] = []

    init() {
        (listener, port) = RawSocket.boundToLoopback()
        precondition(listen(listener, 1) == 0, "a bound socket can listen")
        // An accepted socket waits for no longer than its listener.
        var limit = timeval(tv_sec: Patience.seconds, tv_usec: 0)
        unsafe setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        session.events = self
    }

    deinit {
        close(socket)
        close(listener)
    }

    func accept() {
        socket = Glibc.accept(listener, nil, nil)
        flush()
    }

    /// Sends what the session has to say.
    func flush() {
        var bytes: [UInt8] = []
        _ = unsafe session.send { part in
            unsafe bytes.append(contentsOf: part)
            return true
        }
        _ = RawSocket.send(bytes, to: socket)
    }

    /// Reads until `isDone`, and answers what the protocol asks for.
    func read(until isDone: () -> Bool) {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while !isDone() {
            let count = unsafe recv(socket, &bytes, bytes.count, 0)
            guard count > 0 else {
                Issue.record("the server has closed the connection")
                return
            }
            received += bytes[..<count]
            _ = unsafe bytes[..<count].withUnsafeBytes { bytes in unsafe session.receive(bytes) }
            flush()
        }
    }

    /// Whether the other side has acknowledged a PING, and so all that was sent before.
    var isAcknowledged: Bool {
        var place = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8.count
        while place + 9 <= received.count {
            if received[place + 3] == 6, received[place + 4] == 1 { return true }
            place += 9 + received[place..<place + 3].reduce(0) { $0 << 8 | Int($1) }
        }
        return false
    }

    func headBegan(_ stream: Int32) {}
    func fieldCame(_ stream: Int32, name: Span<UInt8>, value: Span<UInt8>) {}
    func headEnded(_ stream: Int32) {}
    func contentCame(_ stream: Int32, _ bytes: Span<UInt8>) { session.consume(stream, bytes.count) }
    func contentEnded(_ stream: Int32) { requests.append(stream) }
    func contentSent(_ stream: Int32) {}
    func streamClosed(_ stream: Int32, isRefused: Bool) {}
    func goAwayCame(last: Int32) {}
}

/// Requests that an owner has taken when it leaves.
@Suite(.serialized) struct LeavingOwnerTests {
    @Test(arguments: [true, false])
    func `a request is answered by an owner that leaves, and unknown from one that is gone`(leaves: Bool) throws {
        let owner = PlayedOwner()
        let server = try ServerGroup.Server(MemoryLogStore(), ManualTime(), token: Array("secret".utf8))
        let destination = ClusterRoutes.Destination(session: 7, host: "127.0.0.1", port: owner.port)
        server.source.routes.publish(ClusterRoutes(destinations: [destination], owner: 7))
        let answer = Guarded<RawClient.Answer?>(nil)
        let port = try server.whole.port
        let request = Background {
            let client = RawClient(port: port)
            client.send("POST /v1/timers HTTP/1.1\r\nHost: a\r\nContent-Length: 14\r\n\r\n{\"after\":\"1h\"}")
            let answered = client.answer()
            answer.withLock { $0 = answered }
        }
        owner.accept()
        owner.read { !owner.requests.isEmpty }
        if leaves { owner.session.leave() }
        owner.session.ping()
        owner.flush()
        owner.read { owner.isAcknowledged }
        // The owner's session ends in the database, before its answer has come.
        server.source.routes.publish(.none)
        server.source.tell()
        // The second of them comes in a later round of the loop.
        for _ in 0..<2 { #expect(try server.whole.ask("GET", "/healthz").status == 200) }
        if leaves {
            var fields = HTTP2Fields()
            for (name, value) in [(":status", "201"), ("content-length", "2")] {
                fields.add(Array(name.utf8)[...], value.utf8)
            }
            owner.session.respond(owner.requests[0], fields, content: Array("{}".utf8))
            owner.flush()
        }
        try request.finish("the request")
        #expect(answer.value?.status == (leaves ? 201 : 503))
        #expect(leaves || answer.value?.text.contains(#""outcome":"unknown""#) == true)
        server.whole.stop()
    }
}
