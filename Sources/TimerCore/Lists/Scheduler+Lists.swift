extension Scheduler {
    /// Hands timers to `body` in list order, those after the place `after` (nil: from the start).
    ///
    /// - Parameters:
    ///   - selection: the timers that are walked.
    ///   - body: gets a timer's place and slot; returns whether to go on.
    public func walk(
        after: UInt64?, over selection: Selection, _ body: (_ place: UInt64, SlotIndex) -> Bool
    ) {
        // Timers with the same top half of the hash, which is all that the index keeps, come as one group, ordered
        // by the whole hash.
        var group: [(place: UInt64, slot: SlotIndex)] = []
        var groupHash: UInt32 = 0
        var going = true
        func flush() {
            if group.count > 1 { group.sort { $0.place > $1.place } }
            while going, let member = group.popLast() {
                if let after, member.place <= after { continue }
                going = body(member.place, member.slot)
            }
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

    /// Returns the selection to walk for timers that carry all of `labels`, in encoded form, and alarm if
    /// `alarming` is set: the smallest among those of the labels and, with `alarming`, that of the alarming
    /// watchdogs.
    public func narrowest(labels: [[UInt8]], alarming: Bool = false) -> Selection {
        var narrowest = alarming ? Selection.alarming : .all
        for label in labels where table.count(of: .labelled(label)) < table.count(of: narrowest) || narrowest == .all {
            narrowest = .labelled(label)
        }
        return narrowest
    }

    /// The number of watchdogs that alarm now.
    public var alarmingCount: Int { table.count(of: .alarming) }
}

/// The timers that a walk goes over, at the cost of these alone.
public enum Selection: Sendable, Equatable {
    /// All timers.
    case all
    /// The timers that carry this label, given in its encoded form.
    case labelled([UInt8])
    /// The watchdogs that alarm now.
    case alarming
}
