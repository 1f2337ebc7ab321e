import HTTPServer
import Platform
import TestSupport
import Testing
import TimerLog
import TimerService

@testable import TimerAPI

/// Servers in this process that share a log. One owns it, and the others forward to it over the loopback.
final class ServerGroup {
    private struct Server {
        let api: APIServer
        let service: TimerService
        let place: TestPlace
    }

    private var servers: [Server] = []
    private var owner: Int

    /// - Parameters:
    ///   - count: how many servers there are.
    ///   - owner: the index of the one that owns the log.
    init(_ store: MemoryLogStore, _ time: ManualTime, _ count: Int, owner: Int = 0) throws {
        self.owner = owner
        for _ in 0..<count {
            var configuration = APIConfiguration(listeners: [.tcp(host: "127.0.0.1", port: 0)])
            configuration.peerListener = .tcp(host: "127.0.0.1", port: 0)
            configuration.peerTokens = [Array("secret".utf8)]
            let recovery = Heartbeat(name: "recovery")
            let api = try APIServer(configuration, recovery: recovery)
            let place = TestPlace()
            let service = try TimerService(
                store: store.seen(by: 0), place: place, configuration: EngineConfiguration(),
                alarm: ManualAlarm(time), timeSource: time, recovery: recovery, report: { _ in })
            service.start()
            api.start()
            api.serve(service)
            servers.append(Server(api: api, service: service, place: place))
        }
        try servers[owner].service.adopt()
        for server in servers.indices { publish(to: server) }
    }

    /// Shows a server where the owner is.
    func publish(to server: Int) {
        let destinations = servers.enumerated().compactMap { index, server in
            server.api.peerAddress?.port.map {
                ClusterRoutes.Destination(session: Int64(index + 1), host: "127.0.0.1", port: $0)
            }
        }
        servers[server].place.routes.publish(
            ClusterRoutes(destinations: destinations, owner: server == owner ? nil : Int64(owner + 1)))
    }

    /// Moves the log to another server, or has its owner read it again. No server is shown where it is.
    func move(to server: Int) throws {
        servers[owner].service.drop()
        owner = server
        try servers[owner].service.adopt()
    }

    /// A server's answer.
    func ask(
        _ server: Int = 0, _ method: String = "GET", _ target: String, _ body: String? = nil, key: String? = nil,
        type: String = "application/json", headers: String = ""
    ) throws -> RawClient.Answer {
        let client = RawClient(port: try port(of: server))
        var head = "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\nRequest-Id: test\r\n\(headers)"
        if let key { head += "Idempotency-Key: \(key)\r\n" }
        if let body { head += "Content-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n" }
        client.send(head + "\r\n" + (body ?? ""))
        return try #require(client.answer(isHead: method == "HEAD"))
    }

    /// Drains the owner, or takes that back.
    func drain(back: Bool = false) {
        servers[owner].service.log.value?.engine.turn { turn in try? turn.setDrained(!back) }
    }

    /// Where a server listens for clients.
    func port(of server: Int) throws -> UInt16 { try #require(servers[server].api.boundAddresses.first?.port) }

    /// How many timers the owner has.
    var timers: Int { servers[owner].service.snapshotCounters().timers.reduce(0, +) }

    func stop() {
        for server in servers {
            server.api.stop(drainSeconds: 1)
            server.service.stop()
        }
        servers = []
    }
}
