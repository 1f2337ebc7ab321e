import Platform

/// Positions that engines gave out and that were not on disk when this process dropped the engines. Any thread.
///
/// The process may own the log again, with another engine, before an answer that rests on such a position is looked at: the log
/// may have gone on above it without the record, so that its place in the log says nothing.
final class GivenUpPositions: Sendable {
    private let known = Guarded<[ClosedRange<Int64>]>([])

    /// The log comes back in seconds, and an answer waits for seconds at most.
    private static let mostKept = 64

    /// Notes the positions above `shown` through `last`.
    func note(after shown: Int64, through last: Int64) {
        guard last > shown else { return }
        known.withLock { known in
            if known.last == shown + 1...last { return }
            known.append(shown + 1...last)
            if known.count > Self.mostKept { known.removeFirst() }
        }
    }

    /// The positions, oldest first.
    var ranges: [ClosedRange<Int64>] { known.withLock { $0 } }
}
