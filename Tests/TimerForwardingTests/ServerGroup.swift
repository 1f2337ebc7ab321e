import HTTPServer
import PeerHTTP
import Platform
import Synchronization
import TestSupport
import TimerAPI
import TimerForwarding
import TimerLog
import TimerService

/// Servers in this process that share a log. One owns it, and the others forward to it over the loopback.
final class ServerGroup {
    /// A server that forwards by the routes that a test publishes. It owns no log at first.
    struct Server {
        let whole: WholeServer
        let source = TestRoutes()
        let peers: PeerNetwork

        init(
            _ store: MemoryLogStore, _ time: ManualTime, token: [UInt8],
            configure: (inout APIConfiguration) -> Void = { _ in }
        ) throws {
            // However slow the machine is, no request is late.
            var limits = PeerLimits()
            limits.longestTransitMs = .max
            let peers = PeerNetwork(listeningAt: .tcp(host: "127.0.0.1", port: 0), limits)
            let forwarding = Forwarding(by: source, token: token) {}
            whole = try WholeServer(store.seen(by: 0), time, place: TestPlace(), forwardingBy: forwarding) {
                $0.guests = peers
                $0.peerTokens = [token]
                configure(&$0)
            }
            self.peers = peers
        }
    }

    private var servers: [Server] = []
    private var owner: Int

    /// - Parameters:
    ///   - count: the number of servers.
    ///   - owner: the index of the one that owns the log.
    ///   - configure: changes how the API of the server with an index behaves.
    init(
        _ store: MemoryLogStore, _ time: ManualTime, _ count: Int, owner: Int = 0,
        configure: (Int, inout APIConfiguration) -> Void = { _, _ in }
    ) throws {
        self.owner = owner
        // The token by which the servers of this group, and none of another test that got the port of one that has
        // stopped, prove to each other that they may forward.
        let token = Array(String(UInt64.random(in: 0 ... .max), radix: 36).utf8)
        for index in 0..<count {
            servers.append(try Server(store, time, token: token) { configure(index, &$0) })
        }
        try servers[owner].whole.service.adopt()
        for server in servers.indices { publish(to: server) }
    }

    /// Gives a server the address of the owner.
    func publish(to server: Int) {
        var destinations: [ClusterRoutes.Destination] = []
        for (index, server) in servers.enumerated() {
            // In a closure, with the address's port mapped, it crashes the optimizer of Swift 6.3.1.
            guard let port = server.peers.address?.port else { continue }
            destinations.append(
                ClusterRoutes.Destination(session: Int64(index + 1), host: "127.0.0.1", port: port))
        }
        servers[server].source.routes.publish(
            ClusterRoutes(destinations: destinations, owner: server == owner ? nil : Int64(owner + 1)))
    }

    /// Moves the log to another server, or makes its owner open it again. No server is given the new owner's address.
    func move(to server: Int) throws {
        servers[owner].whole.service.drop()
        owner = server
        try servers[owner].whole.service.adopt()
    }

    /// Moves the log to another server, and gives all servers the new owner's address.
    func moveKnown(to server: Int) throws {
        try move(to: server)
        for server in servers.indices { publish(to: server) }
    }

    /// Leaves the log without an owner.
    func drop() {
        servers[owner].whole.service.drop()
        for server in servers { server.source.routes.publish(.none) }
    }

    /// Ends the owner, of which nobody learns while the others can't ask.
    func killUnseen() {
        for server in servers { server.source.isOld.store(true, ordering: .relaxed) }
        servers[owner].whole.stop()
    }

    /// The number of streams and long polls that are open at a server.
    func streams(of server: Int, headers: String = "") throws -> Int {
        let line = try ask(server, "GET", "/metrics", headers: headers).text.split(separator: "\n").first {
            $0.hasPrefix("timerd_streams ")
        }
        return line?.split(separator: " ").last.flatMap { Int($0) } ?? -1
    }

    /// A server's answer.
    func ask(
        _ server: Int = 0, _ method: String = "GET", _ target: String, _ body: String? = nil, key: String? = nil,
        type: String = "application/json", headers: String = ""
    ) throws -> RawClient.Answer {
        let key = key.map { "Idempotency-Key: \($0)\r\n" } ?? ""
        return try servers[server].whole.ask(method, target, body, type: type, headers: headers + key)
    }

    /// Drains the owner, or takes that back.
    func drain(back: Bool = false) {
        servers[owner].whole.service.log.value?.engine.turn { turn in try? turn.setDrained(!back) }
    }

    /// The port on which a server listens for clients.
    func port(of server: Int) throws -> UInt16 { try servers[server].whole.port }

    /// The number of timers that the owner has.
    var timers: Int { servers[owner].whole.service.snapshotCounters().timers.reduce(0, +) }

    func stop() {
        for server in servers { server.whole.stop() }
        servers = []
    }
}
