import Platform

/// Positions that engines gave out and that were not on disk when the engines were given up. Any thread.
///
/// A partition may come back to the process, with another engine, before an answer that rests on such a position is looked at:
/// the log may have gone on above it without the record, so that its place in the log says nothing.
final class GivenUpPositions: Sendable {
    private let ranges = Guarded<[Int: [ClosedRange<Int64>]]>([:])

    /// Partitions come back in seconds, and an answer waits for seconds at most.
    private static let mostKept = 64

    /// Notes the positions above `shown` through `last` of the partition numbered `number`.
    func note(after shown: Int64, through last: Int64, of number: Int) {
        guard last > shown else { return }
        ranges.withLock { ranges in
            var known = ranges[number] ?? []
            if known.last == shown + 1...last { return }
            known.append(shown + 1...last)
            ranges[number] = known.suffix(Self.mostKept)
        }
    }

    /// The positions of the partition numbered `number`, oldest first.
    func ranges(of number: Int) -> [ClosedRange<Int64>] { ranges.withLock { $0[number] ?? [] } }
}
