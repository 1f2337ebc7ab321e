import Testing
import TimerCluster
import TimerLog

struct ClusterStandingTests {
    /// A cluster of `nodes`, whose first partition belongs to `firstOwner`.
    private func standing(_ nodes: [ClusterNode], firstOwner: Int64 = 0) -> ClusterStanding {
        var standing = ClusterStanding(session: 1)
        standing.nodes = nodes
        standing.owners = [PartitionOwner(partition: 0, epoch: 1, session: firstOwner)]
        return standing
    }

    private static let nodes = [
        MembershipBench.node(3, "http://c"), MembershipBench.node(10, "http://a"), MembershipBench.node(17, "http://b"),
    ]

    @Test func `the live owner of the first partition is to own all`() {
        #expect(standing(Self.nodes, firstOwner: 17).plannedOwner == 17)
    }

    @Test func `where the first partition has no live owner, the node whose url comes first is to own all`() {
        #expect(standing(Self.nodes, firstOwner: 999).plannedOwner == 10)
        #expect(standing(Self.nodes.reversed(), firstOwner: 999).plannedOwner == 10)
    }

    @Test func `a leaving node is to own nothing, also where it owns the first partition`() {
        var nodes = Self.nodes
        nodes[1].isLeaving = true
        #expect(standing(nodes, firstOwner: 10).plannedOwner == 17)
        #expect(standing(nodes).plannedOwner == 17)
    }

    @Test func `without a node that stays nobody is to own anything`() {
        var node = Self.nodes[0]
        node.isLeaving = true
        #expect(standing([node], firstOwner: 3).plannedOwner == nil)
        #expect(standing([]).plannedOwner == nil)
        #expect(ClusterStanding(session: 1).plannedOwner == nil)
    }
}
