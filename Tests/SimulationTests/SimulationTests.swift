import TestSupport
import Testing
import TimerCore

struct SimulationTests {
    @Test func `random histories keep every promise`() {
        let seeds = Seeds.chosen()
        print("histories of the seeds \(seeds.first ?? 0) … \(seeds.last ?? 0)")
        var tally = Seeds.Tally()
        let duration = ContinuousClock().measure { tally = Seeds.run(seeds) }
        print("\(tally.operations) operations in \(seeds.count) histories, \(duration)")
        // Histories that never reach a situation prove nothing about it.
        guard Set(seeds).isSuperset(of: Seeds.fixed) else { return }
        #expect(tally.types == Set(EventType.allCases))
        // No stream follows a timer here, so no timer ever loses its subscribers; nor does any come from another server. The
        // webhooks here never end a delivery by its status or age: `DispatcherTests` do.
        let unreached: Set<EventReason> = [.unsubscribed, .imported, .status, .age]
        #expect(tally.reasons == Set(EventReason.allCases).subtracting(unreached))
        #expect(tally.reached == Set(Milestone.allCases))
    }

    @Test func `a seed makes the same history again`() throws {
        let traces = try (0..<2).map { _ in
            let simulation = try Simulation(seed: 4711, traces: true)
            try simulation.run(steps: 100)
            return simulation.trace
        }
        #expect(traces[0] == traces[1])
        #expect(traces[0].count >= 100)
    }
}
