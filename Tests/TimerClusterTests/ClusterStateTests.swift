import Testing
import TimerCluster
import TimerLog

struct ClusterStateTests {
    /// A cluster of `nodes`, whose log belongs to the session `owner`.
    private func clusterState(_ nodes: [ClusterNode], owner: Int64 = 0) -> ClusterState {
        var clusterState = ClusterState(session: 1)
        clusterState.nodes = nodes
        clusterState.owner = LogOwner(epoch: 1, session: owner)
        return clusterState
    }

    private static let nodes = [
        MembershipBench.node(3, "http://c"), MembershipBench.node(10, "http://a"), MembershipBench.node(17, "http://b"),
    ]

    @Test func `the live owner is to own the log`() {
        #expect(clusterState(Self.nodes, owner: 17).plannedOwner == 17)
    }

    @Test func `where the log has no live owner, the node whose url comes first is to own it`() {
        #expect(clusterState(Self.nodes, owner: 999).plannedOwner == 10)
        #expect(clusterState(Self.nodes.reversed(), owner: 999).plannedOwner == 10)
    }

    @Test func `of nodes that stay one that holds the timers in memory comes first`() {
        var nodes = Self.nodes
        nodes[2].memory = .through(5)
        #expect(clusterState(nodes, owner: 999).plannedOwner == 17)
        nodes[0].memory = .through(7)
        #expect(clusterState(nodes, owner: 999).plannedOwner == 17)
        nodes[2].isLeaving = true
        #expect(clusterState(nodes, owner: 999).plannedOwner == 3)
    }

    @Test func `a leaving node is not to own the log, also where it owns it now`() {
        var nodes = Self.nodes
        nodes[1].isLeaving = true
        #expect(clusterState(nodes, owner: 10).plannedOwner == 17)
        #expect(clusterState(nodes).plannedOwner == 17)
    }

    @Test func `without a node that stays nobody is to own the log`() {
        var node = Self.nodes[0]
        node.isLeaving = true
        #expect(clusterState([node], owner: 3).plannedOwner == nil)
        #expect(clusterState([]).plannedOwner == nil)
        #expect(ClusterState(session: 1).plannedOwner == nil)
    }

    @Test func `the owner is shown while it is live, and its url unless it is this node`() {
        let other = clusterState(Self.nodes, owner: 17)
        #expect(other.ownerNode == Self.nodes[2] && other.ownerURL == "http://b")
        let gone = clusterState(Self.nodes, owner: 999)
        #expect(gone.ownerNode == nil && gone.ownerURL == nil)
        let me = MembershipBench.node(1, "http://me")
        let own = clusterState(Self.nodes + [me], owner: 1)
        #expect(own.ownerNode == me && own.ownerURL == nil)
        #expect(ClusterState(session: 1).ownerNode == nil)
    }
}
