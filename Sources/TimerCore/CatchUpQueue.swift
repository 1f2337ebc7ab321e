/// Overdue timers under `misfire: all`: each fires one missed instant, then goes to the end.
struct CatchUpQueue {
    /// A timer that waits; it is dropped when the timer was armed anew since.
    struct Entry: BitwiseCopyable {
        var slot: SlotIndex
        var generation: UInt32
    }

    private var entries = FIFO<Entry>()

    var isEmpty: Bool { entries.isEmpty }

    var count: Int { entries.count }

    /// The one that comes next.
    var first: Entry? { entries.first }

    func forEach(_ body: (Entry) -> Void) { entries.forEach(body) }

    mutating func append(_ entry: Entry) { entries.append(entry) }

    mutating func popFirst() -> Entry? { entries.popFirst() }
}
