import TestSupport
import Testing

/// Histories of several processes on one shared storage.
struct ClusterHistoryTests {
    /// Seconds of a history in which faults are injected.
    private static let seconds: Int64 = 25
    /// The number of a broken history's last steps that are shown.
    private static let stepsTold: UInt64 = 40
    /// The number of broken histories that ends a run.
    private static let mostBroken = 3

    /// Seeds of histories that find each mistake.
    private static let finder: [ClusterHistory.Bug: UInt64] = [
        .standbySkipsRows: 1, .servesBeforeTheRest: 7, .servesWhileGiving: 8, .showsPastLease: 175,
        .appendWithoutFence: 12,
        .appendsWithoutSettling: 1, .wallClockLease: 168,
    ]

    /// Runs a history. Returns the promise that it broke; nil when it broke none.
    private static func broken(
        _ seed: UInt64, _ bug: ClusterHistory.Bug = .none, _ tally: inout ClusterHistory.Tally, traces: Bool = false
    ) -> String? {
        let history = ClusterHistory(seed: seed, bug: bug, traces: traces)
        defer { if !traces { tally.add(history) } }
        do {
            try history.run(seconds: seconds)
            return nil
        } catch {
            if bug != .none { return "\(error)" }
            if !traces { return broken(seed, bug, &tally, traces: true) }
            let last = history.trace.suffix(Int(SeedChoice.number("LAST") ?? stepsTold))
            return "seed \(seed), \(error)\n" + last.joined(separator: "\n")
        }
    }

    @Test func `random histories of several processes keep every promise`() {
        let seeds = SeedChoice.seeds(fixed: 26...29, fresh: 1, areLong: true)
        print("histories of several processes, of the seeds \(seeds.first ?? 0) … \(seeds.last ?? 0)")
        var tally = ClusterHistory.Tally()
        var found = 0
        let duration = ContinuousClock().measure {
            for seed in seeds where found < Self.mostBroken {
                guard let broken = Self.broken(seed, .none, &tally) else { continue }
                found += 1
                Issue.record("\(broken)")
            }
        }
        print("\(tally) in \(seeds.count) histories, \(duration)")
        // Histories that never reach a situation prove nothing about it.
        guard seeds.count >= 5 else { return }
        #expect(
            tally.warmed > 2 && tally.handOvers > 0 && tally.takeovers > 4 && tally.resumed > 50 && tally.fires > 200
                && tally.answered > 1000)
        #expect(tally.fenced > 0 && tally.settled > 0 && tally.withheld > 0 && tally.unknown > 0)
    }

    @Test func `a seed makes the same history of several processes again`() throws {
        let traces = try (0..<2).map { _ in
            let history = ClusterHistory(seed: 4712, traces: true)
            try history.run(seconds: 5)
            return history.trace
        }
        #expect(traces[0] == traces[1])
        #expect(traces[0].count >= 100)
    }

    @Test(arguments: ClusterHistory.Bug.allCases.dropFirst())
    func `the histories find a mistake of the fence, the lease or a standby`(bug: ClusterHistory.Bug) {
        var tally = ClusterHistory.Tally()
        #expect(Self.finder[bug].flatMap { Self.broken($0, bug, &tally) } != nil)
    }
}
