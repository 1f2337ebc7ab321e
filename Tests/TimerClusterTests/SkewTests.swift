import Testing
import TimerCluster
import TimerLog

struct SkewTests {
    private static let second: Int64 = 1_000_000_000

    /// A node `skew` seconds ahead among `others`, after two beats.
    private func bench(skew: Double, others: [Double?]) -> MembershipBench {
        var bench = MembershipBench()
        bench.skew = Int64(skew * 1e9)
        bench.others = others.enumerated().map { index, offset in
            MembershipBench.node(Int64(100 + index), "http://z\(index)", skew: offset.map { Int64($0 * 1e9) })
        }
        bench.settleAll()
        return bench
    }

    @Test(arguments: [(0.7, [0.0]), (-0.7, [0.1, 0.0]), (2.0, [0.0, 0.0, 0.1, 0.2])])
    func `a node whose calendar is off while the others agree does not own the log`(skew: Double, others: [Double])
        throws
    {
        let bench = bench(skew: skew, others: others)
        #expect(bench.reports(.skewed(Int64(skew * 1e9), leaves: true)))
        #expect(!bench.membership.clusterState.isServing)
    }

    @Test(arguments: [(0.7, []), (0.7, [0.7]), (3.0, [3.1, 2.9]), (0.9, [-0.9])] as [(Double, [Double?])])
    func `where all are off alike, or nobody is right, the operator is told and nobody leaves`(
        skew: Double, others: [Double?]
    ) throws {
        let bench = bench(skew: skew, others: others)
        #expect(bench.reports(.skewed(Int64(skew * 1e9), leaves: false)))
        #expect(bench.membership.clusterState.isServing)
    }

    @Test(arguments: [(0.4, [0.0]), (0.0, [5.0, 0.1]), (0.2, [nil, nil])] as [(Double, [Double?])])
    func `a calendar that is right is no matter`(skew: Double, others: [Double?]) {
        let bench = bench(skew: skew, others: others)
        #expect(!bench.steps.contains { if case .report(.skewed) = $0 { true } else { false } })
    }

    @Test func `an owner whose calendar is set wrong gives its session up, and comes back when it is right`() throws {
        var bench = bench(skew: 0, others: [0])
        #expect(bench.membership.clusterState.isServing)
        let session = bench.membership.session
        bench.skew = Self.second
        bench.now.realtime += Self.second
        bench.sleep()
        bench.settleAll()
        #expect(bench.membership.session != session && !bench.membership.clusterState.isServing)
        bench.skew = 0
        bench.now.realtime -= Self.second
        bench.sleep()
        bench.settleAll()
        #expect(bench.reports(.skewGone))
    }

    @Test func `a slow beat says nothing about the calendar`() throws {
        var bench = MembershipBench()
        bench.settle()
        bench.sleep()
        bench.skew = 10 * Self.second
        let beat = try #require(bench.beat)
        bench.pass(milliseconds: 300)
        bench.answer(beat, .view(bench.view()))
        #expect(bench.membership.clusterState.skew == 0)
    }
}
