import HTTPServer
import Platform
import TestSupport
import Testing
import TimerLog
import TimerService

@testable import TimerAPI

/// Servers in this process that share a volume, each the owner of some of its partitions. They forward over the loopback.
final class ServerGroup {
    private struct Server {
        let api: APIServer
        let service: TimerService
        let place: SpreadPlace
    }

    private let volume: MemoryLogVolume
    private var servers: [Server] = []
    private var owned: [[Int]]

    /// - Parameter owned: by server, the numbers of its partitions.
    init(_ volume: MemoryLogVolume, _ time: ManualTime, owned: [[Int]]) throws {
        (self.volume, self.owned) = (volume, owned)
        for numbers in owned {
            var configuration = APIConfiguration(listeners: [.tcp(host: "127.0.0.1", port: 0)])
            configuration.peerListener = .tcp(host: "127.0.0.1", port: 0)
            configuration.peerTokens = [Array("secret".utf8)]
            let recovery = Heartbeat(name: "recovery")
            let api = try APIServer(configuration, recovery: recovery)
            let place = SpreadPlace()
            let service = try TimerService(
                volume: volume, owning: [], place: place, configuration: EngineConfiguration(),
                alarm: ManualAlarm(time), timeSource: time, recovery: recovery, report: { _ in })
            service.start()
            for number in numbers { try service.adopt(number) }
            api.start()
            api.serve(service)
            servers.append(Server(api: api, service: service, place: place))
        }
        for server in servers.indices { publish(to: server) }
    }

    /// Tells a server who owns what, or what it is to believe.
    func publish(to server: Int, as believed: [[Int]]? = nil) {
        var sessions = [Int64?](repeating: nil, count: volume.layout.count)
        for (owner, numbers) in (believed ?? owned).enumerated() where owner != server {
            for number in numbers { sessions[number] = Int64(owner + 1) }
        }
        let destinations = servers.enumerated().compactMap { index, server in
            server.api.peerAddress?.port.map {
                ClusterRoutes.Destination(session: Int64(index + 1), host: "127.0.0.1", port: $0)
            }
        }
        servers[server].place.routes.publish(ClusterRoutes(destinations: destinations, sessions: sessions))
    }

    /// Moves a partition to another server. Nobody is told.
    func move(_ partition: Int, to server: Int) throws {
        for index in owned.indices where owned[index].contains(partition) {
            servers[index].service.release(partition)
            owned[index].removeAll { $0 == partition }
        }
        try servers[server].service.adopt(partition)
        owned[server].append(partition)
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

    /// Drains the partitions of one server, or takes that back.
    func drain(_ server: Int, back: Bool = false) {
        for partition in servers[server].service.partitions.value.all {
            partition.engine.turn { turn in try? turn.setDrained(!back) }
        }
    }

    /// Where a server listens for clients.
    func port(of server: Int) throws -> UInt16 { try #require(servers[server].api.boundAddresses.first?.port) }

    /// How many timers a server owns.
    func timers(of server: Int) -> Int {
        servers[server].service.snapshotCounters().timers.reduce(0, +)
    }

    func stop() {
        for server in servers {
            server.api.stop(drainSeconds: 1)
            server.service.stop()
        }
        servers = []
    }
}
