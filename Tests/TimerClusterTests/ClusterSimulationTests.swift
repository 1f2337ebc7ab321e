import TestSupport
import Testing
import TimerCluster
import TimerLog

struct ClusterSimulationTests {
    /// Runs a simulation. Returns the promise that it broke; nil where it broke none.
    private static func outcome(
        _ seed: UInt64, _ bug: ClusterSimulation.Bug = .none, isTraced: Bool = false
    ) -> String? {
        let simulation = ClusterSimulation(seed: seed, bug: bug)
        simulation.isTraced = isTraced
        do throws(ClusterSimulation.Broken) {
            try simulation.run(seconds: 40)
            return nil
        } catch {
            return isTraced || bug != .none ? error.description : outcome(seed, isTraced: true)
        }
    }

    /// A cluster of three nodes without faults, and the one that serves after ten seconds.
    private func served(_ seed: UInt64) throws -> (ClusterSimulation, owner: SimulatedNode) {
        let simulation = ClusterSimulation(seed: seed, nodes: 3)
        simulation.isChaotic = false
        try simulation.advance(to: 10 * ClusterSimulation.second)
        return (simulation, try #require(simulation.serving.first))
    }

    @Test(arguments: SeedChoice.seeds(fixed: 1...12, fresh: 3))
    func `whatever goes wrong, no two nodes show the log, and it is served in the end`(seed: UInt64) {
        #expect(Self.outcome(seed) == nil)
    }

    @Test(arguments: [
        ClusterSimulation.Bug.wallClockLease, .leaseFromAnswer, .takeUnchecked, .appendWithoutEpoch, .givesWhileServing,
        .formatNotRaised,
    ])
    func `the simulation finds a mistake that breaks the lease, the fence or an upgrade`(bug: ClusterSimulation.Bug) {
        #expect((1...300).contains { Self.outcome(UInt64($0), bug) != nil })
    }

    @Test func `an outage of the directory ends no session`() throws {
        for seed in UInt64(1)...6 {
            let simulation = ClusterSimulation(seed: seed)
            simulation.isChaotic = false
            try simulation.advance(to: 10 * ClusterSimulation.second)
            let before = simulation.store.owner
            simulation.outageUntil = simulation.time + simulation.random.number(1...60) * ClusterSimulation.second
            try simulation.advance(to: simulation.outageUntil + 10 * ClusterSimulation.second)
            #expect(simulation.ends == 0 && simulation.store.owner == before)
        }
    }

    @Test func `a node that dies is replaced by one take`() throws {
        for seed in UInt64(1)...4 {
            let (simulation, owner) = try served(seed)
            let before = simulation.takes
            simulation.crash(owner, forSeconds: 100)
            try simulation.advance(to: simulation.time + 5 * ClusterSimulation.second)
            #expect(simulation.serving.count == 1 && simulation.takes - before == 1)
        }
    }

    @Test func `a log that is handed over has its new owner within a fifth of a second`() throws {
        for seed in UInt64(1)...20 {
            let (simulation, owner) = try served(seed)
            let before = simulation.takes
            let others = simulation.nodes.filter { $0 !== owner }
            simulation.handOver(owner)
            guard others.contains(where: \.isWarm) else {
                #expect(!owner.membership.isHandingOver)
                continue
            }
            while owner.served != nil { try simulation.advance(to: simulation.time + ClusterSimulation.millisecond) }
            let ended = simulation.time
            while simulation.serving.isEmpty {
                try simulation.advance(to: simulation.time + ClusterSimulation.millisecond)
            }
            #expect(simulation.time - ended < 200 * ClusterSimulation.millisecond)
            try simulation.advance(to: simulation.time + ClusterSimulation.second)
            let next = try #require(simulation.serving.first)
            #expect(simulation.serving.count == 1 && next !== owner && next.isWarm)
            #expect(simulation.handOvers == 1 && simulation.takes - before == 1 && simulation.ends == 0)
            #expect(owner.membership.clusterState.nodes.allSatisfy { !$0.isLeaving })
        }
    }

    @Test func `servers that start at the same moment on an empty database serve within three seconds`() throws {
        for seed in UInt64(1)...20 {
            let simulation = ClusterSimulation(seed: seed, nodes: 3)
            simulation.isChaotic = false
            try simulation.advance(to: 3 * ClusterSimulation.second)
            #expect(simulation.serving.count == 1)
            #expect(simulation.takes <= 3)
        }
    }
}
