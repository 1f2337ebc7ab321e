import HTTPServer
import Platform
import PostgresLog
import TimerCluster
import TimerCore
import TimerLog
import TimerService

/// A server's part in a cluster: its session and lease, and the log that it takes and drops.
final class ClusterMember: ClusterPlace, LogHost {
    private struct State {
        var service: TimerService?
        var loop: MembershipLoop?
    }

    let lease = Lease()
    private let store: PostgresLogStore
    private let timing: MembershipTiming
    private let tell: @Sendable (ClusterEvent) -> Void
    /// A closure that is called now and then while the log is read.
    private let moved: @Sendable () -> Void
    /// A check of the access keys of a log that was taken, before anything of it is shown.
    private let checkKeys: @Sendable (KeyRing) throws(StoreError) -> Void
    private let state = Guarded(State())
    private let acceptance = AcceptanceWatch()
    /// The routes to the other servers, once this server has joined with an address for them.
    let routeWatch = RouteWatch()

    /// The most seconds that a stop waits for the database to record that this server has left.
    static let leaveSeconds = 2.0
    /// Nanoseconds between two checks of which server owns the log.
    private static let settlingPause: Int64 = 10_000_000

    /// - Parameters:
    ///   - moved: called now and then while the log is read.
    ///   - checkKeys: called with the access keys of a log that was taken, before anything of it is shown; a log for
    ///     which it throws is not served.
    ///   - tell: takes the events that an operator should know; called on any thread.
    init(
        _ store: PostgresLogStore, timing: MembershipTiming = MembershipTiming(), moved: @escaping @Sendable () -> Void,
        checkingKeys checkKeys: @escaping @Sendable (KeyRing) throws(StoreError) -> Void,
        tell: @escaping @Sendable (ClusterEvent) -> Void
    ) {
        self.store = store
        self.timing = timing
        self.moved = moved
        self.checkKeys = checkKeys
        self.tell = tell
    }

    /// Returns a random number for a session, which is positive.
    @Sendable static func newSession() -> Int64 { Int64(KernelRandom.words(1)[0] >> 1) | 1 }

    private var clusterState: ClusterState? { state.withLock { $0.loop }?.clusterState }

    var owner: String? { clusterState?.ownerURL }
    var map: ClusterMap? {
        guard let loop = state.withLock({ $0.loop }) else { return nil }
        let clusterState = loop.clusterState
        return ClusterMap(
            session: clusterState.session, url: loop.url, nodes: clusterState.nodes, owner: clusterState.owner,
            behind: clusterState.behind)
    }
    var takeovers: Int { clusterState?.takeovers ?? 0 }
    var fenced: Int { clusterState?.fenced ?? 0 }

    /// Joins the cluster; `service` serves its log whenever this server owns it.
    ///
    /// - Parameters:
    ///   - url: the URL of this server.
    ///   - peer: the address that takes forwarded requests; empty where the server takes and forwards none.
    func join(_ service: TimerService, at url: String, peer: String, _ address: PostgresAddress) {
        let profile = NodeProfile(url: url, peer: peer, reads: Int(BatchHeader.format))
        let membership = Membership(profile, timing: timing, at: ClusterInstant.current(), newSession: Self.newSession)
        let loop = MembershipLoop(membership, lease: lease, host: self) { PostgresDirectory(address) }
        service.onFenced { [weak loop] in loop?.fenced() }
        state.withLock { state in
            state.service = service
            state.loop = loop
        }
        loop.start()
        if !peer.isEmpty { routeWatch.start(loop) }
    }

    /// Waits until it is known which server owns the log, or until `isStopping` returns true.
    func waitUntilSettled(orUntil isStopping: () -> Bool) {
        while let service = state.withLock({ $0.service }), !service.ownsLog, owner == nil, !isStopping() {
            moved()
            _ = state.wait(nanoseconds: Self.settlingPause) { _ in nil as Void? }
        }
    }

    /// Waits, on a thread of its own, until an operator has accepted the rows that the database has lost.
    func awaitAcceptance(_ address: PostgresAddress) {
        acceptance.begin { [weak self] in
            guard let service = self?.state.withLock({ $0.service }), service.heldLoss != nil else { return true }
            // No acceptance can be read while the database can't be reached; the next look tries again.
            if let end = try? LossAcceptance.latest(address) { service.acceptLoss(at: end) }
            return service.heldLoss == nil
        }
    }

    /// Hands the log over, if this server owns it and another has read it, in half of `seconds` and what the disk and the
    /// database take; then takes no log any more. A log that could not be handed over stays until `leave`.
    ///
    /// - Returns: the seconds that are left, for requests that wait for the next owner.
    func retire(within seconds: Double) -> Double {
        let began = Clocks.monotonic()
        let outcome = Guarded<HandOverOutcome?>(nil)
        handOver(to: nil, patience: Int64(seconds / 2 * 1e9)) { ended in outcome.update { $0 = ended } }
        outcome.wait { $0.map { _ in () } }
        state.withLock { $0.loop }?.drain()
        return max(0, seconds - Double(Clocks.monotonic() - began) / 1e9)
    }

    /// Leaves the cluster, so that another server may take over at once, and closes every connection. Waits up to
    /// `seconds`.
    func leave(seconds: Double) {
        acceptance.end()
        routeWatch.stop()
        let (service, loop) = state.withLock { ($0.service, $0.loop) }
        loop?.leave(promised: service?.claimedThrough ?? .max, seconds: seconds)
        // Both hold a reference to this member.
        state.withLock { ($0.service, $0.loop) = (nil, nil) }
        store.disconnect()
    }

    func adopt(_ owner: LogOwner) throws(StoreError) {
        guard let service = state.withLock({ $0.service }) else { return }
        store.begin(session: owner.session)
        try service.adopt(moved: moved, checking: checkKeys)
    }

    func drop() { state.withLock { $0.service }?.drop() }

    func release(patience: Int64) -> Int64? { state.withLock { $0.service }?.release(patience: patience) }

    /// Nanoseconds for which a hand-over that was asked for waits for the other server, and for deliveries and streams.
    private static let longestWait: Int64 = 7_000_000_000

    func handOver(to url: String?, _ ended: @escaping @Sendable (HandOverOutcome) -> Void) {
        handOver(to: url, patience: Self.longestWait, ended)
    }

    private func handOver(to url: String?, patience: Int64, _ ended: @escaping @Sendable (HandOverOutcome) -> Void) {
        guard let loop = state.withLock({ $0.loop }) else { return ended(.refused(.notOwner)) }
        loop.handOver(to: url, patience: patience, ended)
    }

    var memory: LogMemory { state.withLock { $0.service }?.memory ?? .cold }

    func read(through end: Int64, shown: Int64?) {
        state.withLock { $0.service }?.read(through: end, shown: shown)
    }

    func report(_ event: ClusterEvent) { tell(event) }
}

/// Looks time and again, on a thread of its own, whether an operator has accepted what the database has lost.
final class AcceptanceWatch: Sendable {
    private struct State {
        /// How often a wait was begun, and whether the thread runs.
        var (begun, isRunning) = (0, false)
        var isEnded = false
    }

    private let state = Guarded(State())
    private let pause: Int64

    /// - Parameter pause: nanoseconds between two looks.
    init(pause: Int64 = 1_000_000_000) { self.pause = pause }

    /// Calls `isOver`, first at once, until it returns true after this call. Where looks are under way already, they go on
    /// with the function that was given first.
    func begin(_ isOver: @escaping @Sendable () -> Bool) {
        let isFirst = state.withLock { state in
            state.begun += 1
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if isFirst { Thread(name: "losses") { [self] in look(isOver) }.detach() }
    }

    /// Ends the looks.
    func end() { state.update { $0.isEnded = true } }

    private func look(_ isOver: () -> Bool) {
        while true {
            let begun = state.withLock { $0.begun }
            if !isOver() {
                if state.wait(nanoseconds: pause, { $0.isEnded ? () : nil }) != nil { return }
                continue
            }
            let isDone = state.withLock { state in
                // A loss may have come since the look.
                if state.begun == begun { state.isRunning = false }
                return !state.isRunning
            }
            if isDone { return }
        }
    }
}

/// The URL of a server, unless the configuration gives one.
enum ClusterURL {
    /// Returns the URL of the first TCP address; this machine's name replaces a host that means all addresses.
    static func of(_ addresses: [BoundAddress]) -> String {
        for case .tcp(let host, let port, let isSecure) in addresses.map(\.address) {
            return ListenAddress.tcp(host: isAny(host) ? machineName : host, port: port, isSecure: isSecure).url
        }
        return addresses.first?.description ?? ""
    }

    private static func isAny(_ host: String) -> Bool { host == "0.0.0.0" || host == "::" }

    private static var machineName: String {
        let name = FileBytes.read("/proc/sys/kernel/hostname", limit: 256).map { String(decoding: $0, as: UTF8.self) }
        return name?.split(separator: "\n").first.map(String.init) ?? "localhost"
    }
}
