import Platform

/// Positions that engines gave out and that were not shown yet when this process dropped the engines. May be used
/// on any thread.
///
/// The process may own the log again, with another engine, before an answer that rests on such a position is looked
/// at. The log may have gone on above the position without the record, so that the position says nothing about its
/// fate.
final class UnknownPositions: Sendable {
    private let known = Guarded<[ClosedRange<Int64>]>([])

    /// The most ranges that are kept: the log comes back in seconds, and an answer waits for seconds at most.
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
