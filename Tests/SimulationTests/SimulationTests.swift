import Testing

struct SimulationTests {
    @Test func `random histories keep every promise`() {
        let seeds = Seeds.chosen()
        print("histories of the seeds \(seeds.first ?? 0) … \(seeds.last ?? 0)")
        var operations = 0
        let duration = ContinuousClock().measure { operations = Seeds.run(seeds) }
        print("\(operations) operations in \(seeds.count) histories, \(duration)")
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
