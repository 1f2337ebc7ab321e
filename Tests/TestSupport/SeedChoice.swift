import Foundation

/// The choice of the random histories that a test run makes.
package enum SeedChoice {
    /// The number in the environment variable `name`.
    package static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }

    /// The seeds of this run: what `SEED` or `SEEDS` ask for, else the fixed ones and a few fresh ones.
    ///
    /// - Parameter areLong: whether a history takes seconds; `LONG_SEEDS`, where it is set, then counts in place of
    ///   `SEEDS`.
    package static func seeds(fixed: ClosedRange<UInt64>, fresh: UInt64, areLong: Bool = false) -> [UInt64] {
        if let seed = number("SEED") { return [seed] }
        let first = number("FIRST_SEED") ?? UInt64.random(in: 0..<1 << 32)
        let long = areLong ? number("LONG_SEEDS") : nil
        if let count = long ?? number("SEEDS") { return (0..<count).map { first &+ $0 } }
        return Array(fixed) + (0..<fresh).map { first &+ $0 }
    }
}
