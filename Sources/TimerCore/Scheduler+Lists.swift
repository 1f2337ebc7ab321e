extension Scheduler {
    /// Hands timers to `body` in list order, those after the place `after` (nil: from the start).
    ///
    /// - Parameters:
    ///   - label: only timers that carry this label, given in its encoded form; the cost is theirs alone.
    ///   - body: gets a timer's place and slot; returns whether to go on.
    public func walk(
        after: UInt64?, label: [UInt8]?, _ body: (_ place: UInt64, SlotIndex) -> Bool
    ) {
        let from = after.map { UInt32(truncatingIfNeeded: $0 >> 32) } ?? 0
        // Timers that share the top half of their hash come as one group, ordered by the whole of it.
        var group: [(place: UInt64, slot: SlotIndex)] = []
        var groupHash: UInt32 = 0
        var going = true
        func flush() {
            for member in group.sorted(by: { $0.place < $1.place }) where going {
                if let after, member.place <= after { continue }
                going = body(member.place, member.slot)
            }
            group.removeAll(keepingCapacity: true)
        }
        table.walk(from: from, label: label) { hash, slot in
            if hash != groupHash {
                flush()
                groupHash = hash
            }
            guard going else { return false }
            group.append((table.order(of: slot), slot))
            return true
        }
        if going { flush() }
    }

    /// Which of `labels`, in encoded form, the fewest timers carry.
    public func rarest(of labels: [[UInt8]]) -> [UInt8]? {
        labels.min { table.count(labelled: $0) < table.count(labelled: $1) }
    }
}
