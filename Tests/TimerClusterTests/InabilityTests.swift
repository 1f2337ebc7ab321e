import Testing
import TimerCluster
import TimerLog

/// A log that can't be used on one node, such as one with a time zone that this node's system lacks.
struct InabilityTests {
    private static let unusable = StoreError(.unusable, "a time zone that is not there")

    /// A node that has taken the log and could not adopt it, beside `others`.
    private func bench(_ others: [ClusterNode], _ error: StoreError = unusable) throws -> MembershipBench {
        var bench = MembershipBench()
        bench.others = others
        bench.settle()
        bench.answerAsAsked(try #require(bench.calls.first { $0.order != nil }))
        bench.perform(try #require(bench.todo.first), error)
        return bench
    }

    /// Answers all for so long, while another node owns the log.
    private func pass(_ seconds: Int64, _ bench: inout MembershipBench) {
        let end = bench.now.boottime + seconds * 1_000_000_000
        while bench.now.boottime < end {
            bench.others[0].beat += 1
            bench.sleep()
            bench.settleAll()
        }
    }

    @Test func `the log is left to another node, for a minute`() throws {
        var bench = try bench([MembershipBench.node(99, "http://z")])
        let session = bench.membership.session
        bench.settle()
        #expect(bench.membership.session != session && bench.takes.isEmpty)
        bench.owner = LogOwner(epoch: 2, session: 99)
        pass(50, &bench)
        #expect(bench.isLeaving)
        pass(20, &bench)
        #expect(!bench.isLeaving)
    }

    @Test func `the log is tried again where no other node may own it`() throws {
        var leaving = MembershipBench.node(99, "http://z")
        leaving.isLeaving = true
        for others in [[], [leaving]] {
            var bench = try bench(others)
            let session = bench.membership.session
            bench.sleep()
            bench.settleAll()
            while !bench.membership.clusterState.isServing {
                bench.sleep()
                bench.settleAll()
            }
            #expect(bench.membership.session == session && !bench.isLeaving)
        }
    }

    @Test func `a node that left the log to others takes it once they are gone`() throws {
        var bench = try bench([MembershipBench.node(99, "http://z")])
        bench.settle()
        bench.others = []
        bench.owner = LogOwner(epoch: 2, session: 0)
        let before = bench.now.boottime
        while !bench.membership.clusterState.isServing {
            bench.sleep()
            bench.settleAll()
        }
        #expect(bench.now.boottime - before < bench.timing.inability / 2)
    }

    @Test func `a cause that may pass leaves the log where it is`() throws {
        var bench = try bench([MembershipBench.node(99, "http://z")], StoreError(.unavailable, "no database"))
        let session = bench.membership.session
        bench.settle()
        #expect(bench.membership.session == session && !bench.isLeaving)
    }
}
