extension Scheduler {
    /// A place in the order of soonest due: the wall instant in milliseconds, then the place in list order.
    public struct DuePlace: Comparable, Sendable {
        /// The due instant, in wall milliseconds.
        public var due: Int64
        /// The place in list order.
        public var place: UInt64

        /// Makes a place; see the members.
        public init(due: Int64, place: UInt64) {
            self.due = due
            self.place = place
        }

        /// Orders by due instant, then by list order.
        public static func < (left: DuePlace, right: DuePlace) -> Bool {
            (left.due, left.place) < (right.due, right.place)
        }
    }
}

/// The first `limit` of the places seen so far, after a given one.
struct NearestPlaces {
    let limit: Int
    let after: Scheduler.DuePlace?
    private var candidates: [(place: Scheduler.DuePlace, slot: SlotIndex)] = []
    /// The place after which none is among the first; nil as long as there is room.
    private(set) var bound: Scheduler.DuePlace?

    init(limit: Int, after: Scheduler.DuePlace?) {
        self.limit = limit
        self.after = after
    }

    /// Whether a place with the due instant `due` and with `hash`, the top half of its place in list order, can be
    /// among the first.
    func mayTake(_ due: Int64, _ hash: UInt32) -> Bool {
        if let bound, (due, UInt64(hash)) > (bound.due, bound.place >> 32) { return false }
        if let after, (due, UInt64(hash)) < (after.due, after.place >> 32) { return false }
        return true
    }

    mutating func take(_ place: Scheduler.DuePlace, _ slot: SlotIndex) {
        if let after, place <= after { return }
        candidates.append((place, slot))
        if candidates.count >= 2 * limit + 64 { trim() }
    }

    /// Forgets all but the first `limit`. A timer that was seen twice counts once.
    mutating func trim() {
        guard candidates.count >= limit else { return }
        candidates.sort { ($0.place, $0.slot) < ($1.place, $1.slot) }
        var kept = 0
        for index in candidates.indices where kept < limit {
            if kept > 0, candidates[index] == candidates[kept - 1] { continue }
            candidates[kept] = candidates[index]
            kept += 1
        }
        candidates.removeLast(candidates.count - kept)
        if kept == limit { bound = candidates[kept - 1].place }
    }

    /// Returns the first places, in order. If there are fewer than `limit`, a timer that was seen twice comes twice.
    mutating func sorted() -> [(place: Scheduler.DuePlace, slot: SlotIndex)] {
        trim()
        return candidates.sorted { $0.place < $1.place }
    }
}
