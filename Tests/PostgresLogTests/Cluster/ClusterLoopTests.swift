import Platform
import TestSupport
import Testing
import TimerCluster
import TimerLog

@testable import PostgresLog

/// Nodes of a cluster, each with its threads, on one PostgreSQL.
struct ClusterLoopTests {
    /// Timing by which a node is ended after 150 reads of another one without a beat of its own, whatever time they
    /// take: three seconds, and longer on a machine that is slow to both.
    private static let quick = {
        var timing = MembershipTiming()
        timing.beatInterval = 20_000_000
        timing.widestGap = 1_000_000
        timing.silence = 150_000_000
        return timing
    }()

    /// A node without a server: it opens the log when the log is given to it.
    private final class Node: LogHost {
        let lease = Lease()
        let served = Guarded<PostgresLogStore?>(nil)
        let events = Guarded<[ClusterEvent]>([])
        private let address: PostgresAddress
        private let running = Guarded<MembershipLoop?>(nil)

        init(_ number: Int, _ cluster: Cluster, _ timing: MembershipTiming) {
            address = cluster.address
            let membership = Membership(
                NodeProfile(url: "http://node-\(number)", reads: Int(BatchHeader.format)),
                timing: timing, at: ClusterInstant.current(),
                newSession: { Int64(truncatingIfNeeded: KernelRandom.words(1)[0] >> 1) })
            let loop = MembershipLoop(membership, lease: lease, host: self) { [address] in PostgresDirectory(address) }
            running.withLock { $0 = loop }
            loop.start()
        }

        var loop: MembershipLoop {
            get throws { try #require(running.withLock { $0 }) }
        }
        var isServing: Bool { served.withLock { $0 != nil } && lease.isValid }

        func adopt(_ owner: LogOwner) throws(StoreError) {
            let store = try PostgresLogStore(address, session: owner.session)
            _ = try store.open()
            served.withLock { $0 = store }
        }

        let memory = LogMemory.cold
        func release(patience: Int64) -> Int64? { nil }
        func read(through end: Int64, shown: Int64?) {}

        func drop() { served.withLock { $0 = nil } }

        func report(_ event: ClusterEvent) { events.withLock { $0.append(event) } }

        /// Ends the node as kill -9 does: nothing is sent to the others. The node's loop keeps it in memory until then.
        func die() {
            let loop = running.withLock { running in
                defer { running = nil }
                return running
            }
            loop?.abandon()
        }
    }

    /// Runs `body` with a node that serves and another one that does not.
    private static func withPair(
        _ cluster: Cluster, _ timing: MembershipTiming = quick, _ body: (_ owner: Node, _ other: Node) throws -> Void
    ) throws {
        let first = Node(0, cluster, timing)
        defer { first.die() }
        try eventually("the first node serves") { first.isServing }
        let second = Node(1, cluster, timing)
        defer { second.die() }
        try eventually("the second node stands by") {
            second.events.withLock { $0.contains(.ownedElsewhere(owner: "http://node-0")) }
        }
        try body(first, second)
    }

    @Test func `when the owner dies another node takes the log`() throws {
        let cluster = try Cluster()
        try Self.withPair(cluster) { owner, other in
            #expect(other.served.withLock { $0 == nil })
            #expect(try other.loop.clusterState.ownerURL == "http://node-0")
            owner.die()
            try eventually("the other node serves") { other.isServing }
            #expect(try other.loop.clusterState.takeovers == 1)
            #expect(try other.loop.clusterState.ownerURL == nil)
            try eventually("the operator is told") { other.events.withLock { $0.contains(.took) } }
        }
    }

    @Test func `an owner that leaves is replaced without waiting for its silence`() throws {
        let cluster = try Cluster()
        try Self.withPair(cluster) { owner, other in
            try owner.loop.drain()
            try owner.loop.leave(seconds: Double(Patience.seconds))
            #expect(!owner.lease.isValid && owner.served.withLock { $0 == nil })
            try eventually("the other node serves") { other.isServing }
            #expect(!other.events.withLock { $0.contains { if case .ended = $0 { true } else { false } } })
        }
    }

    @Test func `a restart of the server costs nobody the log`() throws {
        let server = try PostgresServer()
        let cluster = try Cluster(on: server)
        let timing = MembershipTiming()
        try Self.withPair(cluster, timing) { owner, other in
            let epochs = try cluster.integer("SELECT epoch FROM timerd_owner")
            let session = try owner.loop.clusterState.session
            let start = Clocks.boottime() + 100_000_000
            try server.restart(.immediate)
            try eventually("the lease counts from a beat to the new server") {
                owner.lease.isValid && owner.lease.remaining > start + timing.lease - Clocks.boottime()
            }
            #expect(try owner.loop.clusterState.session == session && owner.isServing)
            #expect(try cluster.integer("SELECT epoch FROM timerd_owner") == epochs)
            #expect(try other.loop.clusterState.takeovers == 0)
        }
    }

    @Test func `a node whose session was ended drops the log and comes back with another`() throws {
        let cluster = try Cluster()
        try Self.withPair(cluster) { owner, other in
            let session = try owner.loop.clusterState.session
            try cluster.execute("UPDATE timerd_node SET ended = true WHERE session = \(session)")
            try eventually("the first node has learnt so") {
                owner.events.withLock { $0.contains(.sessionEnded(session: session)) }
            }
            // The first node is to own the log again, unless the second was quicker than its new session.
            try eventually("one of the nodes serves") { owner.isServing != other.isServing }
            let serving = owner.isServing ? owner : other
            let owning = try serving.loop.clusterState.session
            #expect(owning != session)
            #expect(try cluster.integer("SELECT session FROM timerd_owner") == owning)
        }
    }
}
