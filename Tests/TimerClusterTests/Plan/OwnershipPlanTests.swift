import TestSupport
import Testing
import TimerCluster
import TimerLog

struct OwnershipPlanTests {
    private static func nodes(_ count: Int, speaks: Int = 1) -> [ClusterNode] {
        (0..<count).map {
            ClusterNode(session: Int64($0) * 7 + 3, url: "http://node-\($0):7000", reads: 2, speaks: speaks)
        }
    }

    private static func counts(_ plan: OwnershipPlan) -> [Int64?: Int] {
        Dictionary(grouping: plan.sessions, by: { $0 }).mapValues(\.count)
    }

    @Test(arguments: [(1, 64), (2, 64), (3, 64), (5, 64), (10, 1024), (16, 8)])
    func `every partition has an owner, and no node more than its share`(count: Int, partitions: Int) {
        let plan = OwnershipPlan(nodes: Self.nodes(count), firstOwner: nil, partitions: partitions)
        let share = (partitions + count - 1) / count
        #expect(plan.sessions.count == partitions && !plan.sessions.contains(nil) && !plan.isOneOwner)
        #expect(Self.counts(plan).values.allSatisfy { $0 <= share })
    }

    @Test func `the plan does not depend on the order of the nodes`() {
        let nodes = Self.nodes(5)
        let plan = OwnershipPlan(nodes: nodes, firstOwner: nil, partitions: 64)
        #expect(OwnershipPlan(nodes: nodes.reversed(), firstOwner: nil, partitions: 64) == plan)
    }

    @Test func `a restart under the same url moves nothing`() {
        var nodes = Self.nodes(4)
        let before = OwnershipPlan(nodes: nodes, firstOwner: nil, partitions: 64)
        let old = nodes[1].session
        nodes[1].session = 1_000_000
        let after = OwnershipPlan(nodes: nodes, firstOwner: nil, partitions: 64)
        #expect(after.sessions == before.sessions.map { $0 == old ? 1_000_000 : $0 })
    }

    @Test func `a node that goes leaves most partitions where they are`() {
        let nodes = Self.nodes(4)
        let before = OwnershipPlan(nodes: nodes, firstOwner: nil, partitions: 64)
        let after = OwnershipPlan(nodes: Array(nodes.dropLast()), firstOwner: nil, partitions: 64)
        let gone = nodes[3].session
        let moved = zip(before.sessions, after.sessions).filter { $0 != gone && $0 != $1 }.count
        #expect(moved <= 16)
    }

    @Test func `a leaving node gets nothing`() {
        var nodes = Self.nodes(3)
        nodes[0].isLeaving = true
        let plan = OwnershipPlan(nodes: nodes, firstOwner: nodes[0].session, partitions: 64)
        #expect(Set(plan.sessions) == Set(nodes.dropFirst().map(\.session)))
    }

    @Test func `while one node can't be forwarded to, the owner of the first partition is to own all`() {
        var nodes = Self.nodes(3)
        nodes[2].speaks = 0
        let owned = OwnershipPlan(nodes: nodes, firstOwner: nodes[1].session, partitions: 64)
        #expect(owned.isOneOwner && Set(owned.sessions) == [nodes[1].session])
        let free = OwnershipPlan(nodes: nodes, firstOwner: 999, partitions: 64)
        #expect(Set(free.sessions) == [nodes[0].session])
    }

    @Test func `a leaving node is the one owner no longer`() {
        var nodes = Self.nodes(2, speaks: 0)
        nodes[0].isLeaving = true
        let plan = OwnershipPlan(nodes: nodes, firstOwner: nodes[0].session, partitions: 4)
        #expect(Set(plan.sessions) == [nodes[1].session])
    }

    @Test(arguments: [0, 1])
    func `without a node that stays nobody owns anything`(speaks: Int) {
        var nodes = Self.nodes(1, speaks: speaks)
        nodes[0].isLeaving = true
        #expect(OwnershipPlan(nodes: nodes, firstOwner: nil, partitions: 4).sessions == [nil, nil, nil, nil])
        #expect(OwnershipPlan(nodes: [], firstOwner: nil, partitions: 2).sessions == [nil, nil])
    }

    /// All versions of timerd must come to this plan.
    @Test func `the plan is the same in every version`() {
        let plan = OwnershipPlan(nodes: Self.nodes(3), firstOwner: nil, partitions: 16)
        #expect(plan.sessions.map { $0.map { ($0 - 3) / 7 } } == [1, 1, 2, 0, 2, 1, 1, 1, 0, 0, 0, 0, 2, 1, 0, 2])
    }
}
