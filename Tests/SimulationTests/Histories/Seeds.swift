import TestSupport
import Testing
import TimerCore

/// The choice of the histories that are run, and the report of a broken one.
enum Seeds {
    /// Seeds that are the same in every run; some of them reach every situation.
    static let fixed: ClosedRange<UInt64> = 7...16
    /// The number of other seeds in each run.
    static let freshCount: UInt64 = 4
    /// Steps of a history; most make several operations.
    static let steps = 300
    /// The number of a broken history's last steps that are shown.
    static let stepsTold = 20
    /// The number of broken histories that ends a run.
    private static let mostBroken = 3

    /// The seeds of this run.
    static func chosen() -> [UInt64] { SeedChoice.seeds(fixed: fixed, fresh: freshCount) }

    /// The operations of histories, and the situations that they reached.
    struct Tally {
        /// Client requests, clock steps, appends' fates, crashes, waits.
        var operations = 0
        /// The event types and reasons in the logs.
        var types: Set<EventType> = []
        var reasons: Set<EventReason> = []
        /// The other situations that they reached.
        var reached: Set<Milestone> = []
    }

    /// Runs the histories of `seeds`; a broken promise is reported with the steps before it.
    static func run(_ seeds: [UInt64]) -> Tally {
        var tally = Tally()
        var broken = 0
        for seed in seeds where broken < mostBroken {
            do {
                let simulation = try Simulation(seed: seed)
                defer {
                    tally.operations += simulation.operations
                    tally.types.formUnion(simulation.audit.types)
                    tally.reasons.formUnion(simulation.audit.reasons)
                    tally.reached.formUnion(simulation.reached)
                }
                try simulation.run(steps: steps)
            } catch {
                broken += 1
                Issue.record("seed \(seed), \(error)\n\(lastSteps(seed))")
            }
        }
        return tally
    }

    /// The last steps of a history that breaks, by running it again.
    private static func lastSteps(_ seed: UInt64) -> String {
        guard let again = try? Simulation(seed: seed, traces: true) else { return "" }
        try? again.run(steps: steps)
        return again.trace.suffix(Int(SeedChoice.number("LAST") ?? UInt64(stepsTold))).joined(separator: "\n")
    }
}
