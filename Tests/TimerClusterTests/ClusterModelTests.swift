import Testing
import TimerLog

@testable import TimerCluster

struct ClusterModelTests {
    /// Bounds that make certain events possible.
    struct Scenario: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bounds: ClusterModel.Bounds
        /// The events that the exploration is to come across.
        let seen: Set<ClusterModel.Milestone>
        /// The states that it is to visit at least.
        let states: Int
    }

    private typealias Bounds = ClusterModel.Bounds

    static let scenarios = [
        Scenario(
            testDescription: "a take-over with the lease of a server", bounds: Bounds(ticks: 9, faults: 1),
            seen: [.taken, .resumedAfterLease], states: 14_000),
        Scenario(
            testDescription: "a take-over, and either server comes first",
            bounds: Bounds(ticks: 5, faults: 1, bothOrders: true, lease: 2), seen: [.taken, .resumedAfterLease],
            states: 12_000),
        Scenario(
            testDescription: "an append over a take-over", bounds: Bounds(ticks: 5, faults: 1, appends: 1, lease: 2),
            seen: [.taken, .fenced, .landed, .absent, .late, .resumedAfterLease, .withheld], states: 20_000),
        Scenario(
            testDescription: "a take-over with two faults", bounds: Bounds(ticks: 4, faults: 2, lease: 2),
            seen: [.taken, .resumedAfterLease], states: 60_000),
        Scenario(
            testDescription: "an append with two faults", bounds: Bounds(ticks: 1, faults: 2, appends: 1, lease: 2),
            seen: [.landed, .absent, .late], states: 7_000),
        Scenario(
            testDescription: "two hand-overs", bounds: Bounds(ticks: 6, faults: 1, handOvers: 2, lease: 2),
            seen: [.given, .taken, .late], states: 40_000),
        Scenario(
            testDescription: "an append over a hand-over",
            bounds: Bounds(ticks: 3, faults: 1, appends: 1, handOvers: 1, lease: 2),
            seen: [.given, .taken, .landed, .absent, .late], states: 30_000),
        Scenario(
            testDescription: "a hand-over with two faults",
            bounds: Bounds(ticks: 2, faults: 2, handOvers: 1, lease: 2), seen: [.given, .late], states: 30_000),
        Scenario(
            testDescription: "six appends",
            bounds: Bounds(ticks: 7, faults: 1, appends: 6, appendsAlways: true, lease: 2),
            seen: [.landed, .absent, .late, .taken, .fenced], states: 30_000),
        Scenario(
            testDescription: "processes that are killed or leave",
            bounds: Bounds(ticks: 5, faults: 1, kills: true, leaves: true, lease: 2), seen: [.taken], states: 17_000),
        Scenario(
            testDescription: "two servers that start at once",
            bounds: Bounds(ticks: 4, faults: 1, bothOrders: true, isCold: true, lease: 2),
            seen: [.taken, .refusedTake],
            states: 18_000),
    ]

    @Test(arguments: scenarios)
    func `in no state do two servers show the log, is a row lost, or a position given twice`(scenario: Scenario) {
        let explorer = ModelExplorer(scenario.bounds)
        #expect(explorer.broken == nil)
        #expect(explorer.seen.isSuperset(of: scenario.seen))
        #expect(explorer.states >= scenario.states)
    }

    private static let mistakes: [(ClusterModel.Bug, ClusterModel.Bounds)] = [
        (.takeAtAnyEpoch, Bounds(ticks: 3, faults: 1, bothOrders: true, isCold: true, lease: 2)),
        (.takeWithoutBarrier, Bounds(ticks: 4, faults: 1, appends: 1, leaves: true, lease: 2)),
        (.takeForgetsPromise, Bounds(ticks: 5, faults: 1, lease: 2)),
        (.appendWithoutFence, Bounds(ticks: 4, faults: 1, appends: 1, leaves: true, lease: 2)),
        (.showsAfterLease, Bounds(ticks: 5, faults: 1, lease: 2)),
        (.giveKeepsAppend, Bounds(ticks: 5, faults: 1, appends: 1, handOvers: 1, lease: 2)),
        (.giveForgetsClaims, Bounds(ticks: 5, faults: 0, handOvers: 1, lease: 2)),
        (.appendsElsewhere, Bounds(ticks: 2, faults: 1, appends: 1, lease: 2)),
        (.unknownIsDurable, Bounds(ticks: 2, faults: 1, appends: 1, lease: 2)),
    ]

    @Test(arguments: mistakes)
    func `a mistake in a statement, or in a server's dealing with its answer, is found`(
        bug: ClusterModel.Bug, bounds: ClusterModel.Bounds
    ) {
        let broken = ModelExplorer(bounds, bug: bug).broken
        #expect(broken != nil)
    }

    @Test func `the fingerprint of a membership leaves no property out unnoticed`() {
        let names = Mirror(reflecting: MembershipBench().membership).children.compactMap(\.label)
        #expect(Set(names) == Membership.hashed.union(Membership.passedOver))
    }
}
