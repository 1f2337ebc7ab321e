import Testing
import TimerCluster
import TimerLog

struct FormatTests {
    @Test func `a node that can't read what may be written leaves at once`() {
        var bench = MembershipBench()
        bench.format = 3
        bench.settleAll()
        #expect(bench.reports(.formatTooNew(3)) && bench.membership.hasLeft)
    }

    @Test func `a newer format is announced once every node reads it, by one of them`() {
        var bench = MembershipBench()
        bench.format = 1
        bench.others = [MembershipBench.node(99, "http://z")]
        bench.others[0].reads = 1
        bench.settle()
        #expect(bench.membership.clusterState.format == 1)
        #expect(!bench.calls.contains { $0.request == .announce(format: 2) })
        bench.others[0].reads = 2
        bench.sleep()
        if let beat = bench.beat { bench.answer(beat, .view(bench.view())) }
        #expect(bench.calls.contains { $0.request == .announce(format: 2) })
    }

    @Test func `what may be written is no more than every node reads`() {
        var bench = MembershipBench()
        bench.others = [MembershipBench.node(99, "http://z")]
        bench.others[0].reads = 1
        bench.settle()
        #expect(bench.membership.clusterState.format == 1)
    }
}
