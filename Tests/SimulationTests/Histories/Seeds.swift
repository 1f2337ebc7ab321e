import TestSupport
import Testing
import TimerCore

/// Which histories are run, and how a broken one is reported.
enum Seeds {
    /// Seeds that are the same in every run.
    static let fixed: ClosedRange<UInt64> = 1...60
    /// How many other seeds each run has.
    static let freshCount: UInt64 = 8
    /// Steps of a history; most make several operations.
    static let steps = 300
    /// Steps told of a broken history.
    static let stepsTold = 20
    /// A run ends after so many broken histories.
    private static let mostBroken = 3

    /// The seeds of this run.
    static func chosen() -> [UInt64] { SeedChoice.seeds(fixed: fixed, fresh: freshCount) }

    /// What histories did and reached.
    struct Tally {
        /// Client requests, clock steps, appends' fates, crashes, waits.
        var operations = 0
        /// Which events and reasons the logs told of.
        var types: Set<EventType> = []
        var reasons: Set<EventReason> = []
        /// What else they came to.
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
