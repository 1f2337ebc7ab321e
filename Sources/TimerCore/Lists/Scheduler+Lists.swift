extension Scheduler {
    /// Hands timers to `body` in list order, those after the place `after` (nil: from the start).
    ///
    /// - Parameters:
    ///   - selection: which ones.
    ///   - body: gets a timer's place and slot; returns whether to go on.
    public func walk(
        after: UInt64?, over selection: Selection, _ body: (_ place: UInt64, SlotIndex) -> Bool
    ) {
        // Timers that share what the index keeps of their hash come as one group, ordered by the whole of it.
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
        table.walk(from: after ?? 0, over: selection) { hash, slot in
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

    /// The selection to walk for timers that carry all of `labels`, in encoded form, and alarm if `alarming` says so: of
    /// each label's timers, and the alarming ones, those that are the fewest.
    public func narrowest(labels: [[UInt8]], alarming: Bool = false) -> Selection {
        var narrowest = alarming ? Selection.alarming : .all
        for label in labels where table.count(of: .labelled(label)) < table.count(of: narrowest) || narrowest == .all {
            narrowest = .labelled(label)
        }
        return narrowest
    }

    /// How many watchdogs alarm now.
    public var alarmingCount: Int { table.count(of: .alarming) }
}
