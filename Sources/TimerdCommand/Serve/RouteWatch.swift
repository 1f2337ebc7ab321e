import HTTPServer
import Platform
import Synchronization
import TimerCluster
import TimerForwarding
import TimerLog

/// Keeps the routes to other servers current. One thread follows the state of the cluster, and another looks names up: while
/// the resolver takes long, the routes to servers whose addresses are known still follow the state.
final class RouteWatch: RouteSource {
    /// The address of a server, as far as it is known.
    private struct Name {
        /// The address that was found last; nil before.
        var address: String?
        /// The monotonic time, in nanoseconds, from which on the name is looked up again.
        var due = Int64.min
    }

    private struct Known {
        var clusterState: ClusterState?
        /// The servers' names with their ports, as they give them.
        var names: [String: Name] = [:]
        var isEnded = false

        mutating func take(_ clusterState: ClusterState) {
            self.clusterState = clusterState
            let others = clusterState.nodes.filter { $0.session != clusterState.session }
            let known = names
            names = Dictionary(
                others.map { ($0.peer, known[$0.peer] ?? Name()) }, uniquingKeysWith: { first, _ in first })
        }

        /// The routes to the servers whose addresses are known.
        var routes: ClusterRoutes {
            guard let clusterState else { return .none }
            let destinations = clusterState.nodes.compactMap { node -> ClusterRoutes.Destination? in
                guard node.session != clusterState.session, let (_, port) = PeerURL.parts(node.peer),
                    let address = names[node.peer]?.address
                else { return nil }
                return ClusterRoutes.Destination(session: node.session, host: address, port: port)
            }
            let owner = clusterState.owner?.session
            return ClusterRoutes(destinations: destinations, owner: owner == clusterState.session ? nil : owner)
        }
    }

    let routes = Published(ClusterRoutes.none)
    private let isUnreachable = Atomic<Bool>(false)
    private let known = Guarded(Known())
    private let observers = Guarded<[@Sendable () -> Void]>([])
    private let lookUp: @Sendable (String) -> String?

    /// The time for which an address that was found is used, in nanoseconds.
    private static let freshness: Int64 = 10_000_000_000
    /// Nanoseconds from a look-up in vain to the next, and between two looks at which names are due.
    private static let pause: Int64 = 500_000_000

    var isCutOff: Bool { isUnreachable.load(ordering: .relaxed) }

    /// - Parameter lookUp: returns the address of a host; an address is returned as it is. May take long.
    init(
        lookUp: @escaping @Sendable (String) -> String? = { host in
            NameLookup.addresses(of: host).first.flatMap { NameLookup.text(of: $0) }
        }
    ) {
        self.lookUp = lookUp
    }

    /// Begins to follow the state of the cluster as `loop` knows it.
    func start(_ loop: MembershipLoop) {
        startLookingUp()
        Thread(name: "routes") { [weak loop] in
            guard var clusterState = loop?.clusterState else { return }
            while !self.known.withLock({ $0.isEnded }) {
                self.update(clusterState)
                guard let loop else { return }
                clusterState = loop.clusterState(otherThan: clusterState, within: Double(Self.pause) / 1e9)
            }
        }.detach()
    }

    /// Begins to look up the names of the servers.
    func startLookingUp() {
        Thread(name: "names") {
            while let names = self.nextNames() { names.forEach(self.lookUpAddress) }
        }.detach()
    }

    /// Ends the threads, without waiting for them: a look-up may be under way. The routes stay as they are.
    func stop() { known.update { $0.isEnded = true } }

    /// Calls `body` whenever the routes have changed.
    func observeRoutes(_ body: @escaping @Sendable () -> Void) { observers.withLock { $0.append(body) } }

    /// Publishes the routes of this state.
    func update(_ clusterState: ClusterState) {
        isUnreachable.store(clusterState.isUnreachable, ordering: .relaxed)
        change { $0.take(clusterState) }
    }

    /// Waits for names that are to be looked up, and returns them; nil once the threads are to end.
    private func nextNames() -> [String]? {
        while true {
            let found = known.wait(nanoseconds: Self.pause) { known -> [String]? in
                let now = Clocks.monotonic()
                let due = known.names.filter { $0.value.due <= now }.keys
                return known.isEnded ? [] : due.isEmpty ? nil : Array(due)
            }
            if let found { return found.isEmpty ? nil : found }
        }
    }

    private func lookUpAddress(of peer: String) {
        let address = PeerURL.parts(peer).flatMap { lookUp($0.host) }
        let due = Clocks.monotonic() + (address == nil ? Self.pause : Self.freshness)
        change { known in
            guard let name = known.names[peer] else { return }
            known.names[peer] = Name(address: address ?? name.address, due: due)
        }
    }

    private func change(_ body: (inout Known) -> Void) {
        let isNew = known.update { known in
            body(&known)
            let routes = known.routes
            guard routes != self.routes.value else { return false }
            self.routes.publish(routes)
            return true
        }
        if isNew { for observer in observers.withLock({ $0 }) { observer() } }
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
