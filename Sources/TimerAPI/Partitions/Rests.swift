import TimerService

/// The records that an answer rests on: in each partition the newest of the first step, and that of the last. The answer is
/// void where a position between the two is lost.
struct Rests {
    private var partition = 0
    /// Of `partition`; 0 where it rests on no record.
    private var positions: ClosedRange<Int64> = 0...0
    /// Of the further partitions.
    private var others: [Int: ClosedRange<Int64>] = [:]

    /// Notes that the answer rests on the record at `position` too; 0 is no record.
    mutating func add(_ position: Int64, in partition: Int) {
        guard position != 0 else { return }
        if positions == 0...0 && (others.isEmpty || others[partition] == nil) { self.partition = partition }
        if partition == self.partition {
            positions = Self.widen(positions, to: position)
        } else {
            others[partition] = Self.widen(others[partition] ?? 0...0, to: position)
        }
    }

    /// Notes that the answer rests on no record of `partition`.
    mutating func removeAll(in partition: Int) {
        if !others.isEmpty { others[partition] = nil }
        if partition == self.partition { positions = 0...0 }
    }

    private static func widen(_ positions: ClosedRange<Int64>, to position: Int64) -> ClosedRange<Int64> {
        if positions == 0...0 { return position...position }
        return min(positions.lowerBound, position)...max(positions.upperBound, position)
    }

    /// The positions in a partition; 0...0 for none.
    func positions(in partition: Int) -> ClosedRange<Int64> {
        partition == self.partition ? positions : others[partition] ?? 0...0
    }

    /// What became of the records: lost where any is, pending where any is not durable yet.
    ///
    /// - Parameter fate: what became of those of one partition.
    func fate(_ fate: (_ partition: Int, ClosedRange<Int64>) -> Fate) -> Fate {
        var result = fate(partition, positions)
        if others.isEmpty { return result }
        for (number, positions) in others where result != .lost {
            let other = fate(number, positions)
            if other != .durable { result = other }
        }
        return result
    }
}
