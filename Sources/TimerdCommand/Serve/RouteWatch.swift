import HTTPServer
import Platform
import Synchronization
import TimerCluster
import TimerForwarding
import TimerLog

/// Keeps the routes to other servers current: its own thread follows the state of the cluster and looks names up.
final class RouteWatch: RouteSource {
    /// The address that was found for a name, and the monotonic time of the look-up in nanoseconds.
    private struct Found {
        var address: String
        var at: Int64
    }

    let routes = Published(ClusterRoutes.none)
    private let isUnreachable = Atomic<Bool>(false)
    private let isEnded = Guarded(false)
    private let observers = Guarded<[@Sendable () -> Void]>([])

    /// The longest time between two updates, in seconds, though nothing has changed: a name may have another
    /// address by then.
    private static let longestPause = 0.5
    /// The time for which an address that was found is used, in nanoseconds.
    private static let freshness: Int64 = 10_000_000_000

    var isCutOff: Bool { isUnreachable.load(ordering: .relaxed) }

    /// Begins to follow the state of the cluster as `loop` knows it.
    func start(_ loop: MembershipLoop) {
        Thread(name: "routes") { [weak loop] in
            var found: [String: Found] = [:]
            guard var clusterState = loop?.clusterState else { return }
            while !self.isEnded.withLock({ $0 }) {
                self.update(clusterState, &found)
                guard let loop else { return }
                clusterState = loop.clusterState(otherThan: clusterState, within: Self.longestPause)
            }
        }.detach()
    }

    /// Ends the thread, without waiting for it: a look-up may be under way. The routes stay as they are.
    func stop() { isEnded.withLock { $0 = true } }

    /// Calls `body` whenever the routes have changed.
    func observeRoutes(_ body: @escaping @Sendable () -> Void) { observers.withLock { $0.append(body) } }

    private func update(_ clusterState: ClusterState, _ found: inout [String: Found]) {
        isUnreachable.store(clusterState.isUnreachable, ordering: .relaxed)
        let now = Clocks.monotonic()
        found = found.filter { peer, _ in clusterState.nodes.contains { $0.peer == peer } }
        let destinations = clusterState.nodes.compactMap { node -> ClusterRoutes.Destination? in
            guard node.session != clusterState.session, let (host, port) = PeerURL.parts(node.peer) else { return nil }
            if found[node.peer].map({ now - $0.at > Self.freshness }) ?? true, let address = Self.lookUp(host) {
                found[node.peer] = Found(address: address, at: now)
            }
            guard let address = found[node.peer]?.address else { return nil }
            return ClusterRoutes.Destination(session: node.session, host: address, port: port)
        }
        let routes = ClusterRoutes(
            destinations: destinations,
            owner: clusterState.owner.flatMap { $0.session == clusterState.session ? nil : $0.session })
        guard routes != self.routes.value else { return }
        self.routes.publish(routes)
        for observer in observers.withLock({ $0 }) { observer() }
    }

    /// Returns the first address of a name; an address is returned as it is.
    private static func lookUp(_ host: String) -> String? {
        NameLookup.addresses(of: host).first.flatMap { NameLookup.text(of: $0) }
    }
}

/// The address at which a server takes forwarded requests, as the other servers see it.
enum PeerURL {
    /// Returns `host:port` of the listener for forwarded requests; its host is that of `url` where it listens at
    /// every address.
    static func of(_ address: BoundAddress, url: String) -> String {
        guard case .tcp(let host, let port, _) = address.address else { return "" }
        let isEvery = address.address.fromHere != address.address
        let name = isEvery ? Self.host(of: url) : host
        return name.contains(":") ? "[\(name)]:\(port)" : "\(name):\(port)"
    }

    /// Returns the host and port of `peer`; nil where it is neither a name nor an address with a port.
    static func parts(_ peer: String) -> (host: String, port: UInt16)? {
        guard let address = try? ListenAddress(parsing: peer), case .tcp(let host, let port, false) = address,
            port > 0
        else { return nil }
        return (host, port)
    }

    /// Returns the host of a URL, without brackets.
    private static func host(of url: String) -> String {
        let start = url.firstRange(of: "://")?.upperBound ?? url.startIndex
        let authority = url[start...].prefix { $0 != "/" && $0 != "?" }
        if authority.hasPrefix("[") { return String(authority.dropFirst().prefix { $0 != "]" }) }
        return String(authority.prefix { $0 != ":" })
    }
}
