import TimerCore

/// Joins what the searches of all partitions have found: the timers that are due soonest of all.
struct SoonestMerge {
    struct Entry {
        let place: Scheduler.DuePlace
        let slot: SlotIndex
        let partition: Int
    }

    private let limit: Int
    /// Up to here every timer was found; nil where there is none beyond.
    private(set) var next: Scheduler.DuePlace?
    /// What was found, soonest first.
    private(set) var entries: [Entry] = []

    /// - Parameter limit: most timers that are wanted.
    init(limit: Int) { self.limit = limit }

    /// Adds what a search that is over has found in a partition.
    ///
    /// - Parameters:
    ///   - found: soonest first.
    ///   - bound: up to here every timer was found; nil where there is none beyond.
    mutating func add(
        _ found: [(place: Scheduler.DuePlace, slot: SlotIndex)], next bound: Scheduler.DuePlace?, of partition: Int
    ) {
        let added = found.map { Entry(place: $0.place, slot: $0.slot, partition: partition) }
        if entries.isEmpty && next == nil {
            (entries, next) = (added, bound)
            return
        }
        entries = (entries + added).sorted { $0.place < $1.place }
        if let bound { next = next.map { min($0, bound) } ?? bound }
        if entries.count > limit {
            entries.removeSubrange(limit...)
            next = entries.last?.place
        }
        if let next { entries.removeAll { next < $0.place } }
    }
}
