/// The overdue timers under `misfire: all`: each fires one missed instant, then goes to the end of the queue.
struct CatchUpQueue {
    /// A timer that waits; the entry is dropped if the timer was armed again since.
    struct Entry: BitwiseCopyable {
        var slot: SlotIndex
        var generation: UInt32
    }

    private var entries = FIFO<Entry>()

    var isEmpty: Bool { entries.isEmpty }

    var count: Int { entries.count }

    /// The entry that comes next.
    var first: Entry? { entries.first }

    /// The number of entries taken so far, which is the place of the first that waits. Places only grow.
    private(set) var taken = 0

    /// Returns the entry at a place; nil after the last.
    func entry(at place: Int) -> Entry? { place - taken < entries.count ? entries[place - taken] : nil }

    mutating func append(_ entry: Entry) { entries.append(entry) }

    mutating func popFirst() -> Entry? {
        guard let entry = entries.popFirst() else { return nil }
        taken += 1
        return entry
    }
}
