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

    /// A place in the order of soonest due: the wall instant in milliseconds, then the place in list order.
    public struct DuePlace: Comparable, Sendable {
        /// Wall milliseconds.
        public var due: Int64
        /// The place in list order.
        public var place: UInt64

        /// Makes a place; see the members.
        public init(due: Int64, place: UInt64) {
            self.due = due
            self.place = place
        }

        /// By due instant, then list order.
        public static func < (left: DuePlace, right: DuePlace) -> Bool {
            (left.due, left.place) < (right.due, right.place)
        }
    }

    /// The soonest due of the running timers that come after a place and that `accepts` takes.
    ///
    /// Costs what the wheel slots hold that the answer lies in, not what the server holds.
    public func soonest(
        after: DuePlace?, limit: Int, _ now: Now, accepts: (SlotIndex) -> Bool
    ) -> [(place: DuePlace, slot: SlotIndex)] {
        var nearest = Nearest(limit: limit, after: after)
        func consider(_ slot: SlotIndex) {
            guard table[slot].isPlanned else { return }
            let due = now.wall(of: table[slot].due, on: table[slot].traits.clock)
            guard nearest.mayTake(due), accepts(slot) else { return }
            nearest.take(DuePlace(due: due, place: table.order(of: slot)), slot)
        }
        func considerEntry(_ entry: TimerWheel.Entry) { if table.isArmed(with: entry) { consider(entry.slot) } }
        // A due instant lies at most the widest slack before the instant its timer is armed for.
        elapsedWheel.walk({ nearest.wants($0 - widestSlack + now.wallOffset) }, considerEntry)
        wallWheel.walk({ nearest.wants($0 - widestSlack) }, considerEntry)
        for slot in waitingForRebuild { consider(slot) }
        catchUp.forEach { entry in
            if table[entry.slot].generation == entry.generation { consider(entry.slot) }
        }
        return nearest.sorted()
    }

    /// The first of the places seen so far.
    private struct Nearest {
        let limit: Int
        let after: DuePlace?
        private var candidates: [(place: DuePlace, slot: SlotIndex)] = []
        /// No later due instant is among the first, once there are enough.
        private var bound = Int64.max

        init(limit: Int, after: DuePlace?) {
            self.limit = limit
            self.after = after
        }

        func mayTake(_ due: Int64) -> Bool { due <= bound && after.map { due >= $0.due } ?? true }

        /// Whether anything due from `start` on can still be among the first.
        mutating func wants(_ start: Int64) -> Bool {
            trim()
            return candidates.count < limit || start <= bound
        }

        mutating func take(_ place: DuePlace, _ slot: SlotIndex) {
            if let after, place <= after { return }
            candidates.append((place, slot))
            if candidates.count >= 2 * limit + 64 { trim() }
        }

        private mutating func trim() {
            candidates.sort { $0.place < $1.place }
            if candidates.count > limit { candidates.removeLast(candidates.count - limit) }
            if candidates.count == limit, let last = candidates.last { bound = last.place.due }
        }

        mutating func sorted() -> [(place: DuePlace, slot: SlotIndex)] {
            trim()
            return candidates
        }
    }
}
