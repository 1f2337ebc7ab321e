/// Overdue timers under `misfire: all`: each fires one missed instant, then goes to the end.
struct CatchUpQueue {
    /// A timer that waits; it is dropped when the timer was armed anew since.
    struct Entry: BitwiseCopyable {
        var slot: SlotIndex
        var generation: UInt32
    }

    private var entries: [Entry] = []
    private var taken = 0

    /// Taken entries are given back once there are so many.
    private static let mostTaken = 1024

    var isEmpty: Bool { taken == entries.count }

    var count: Int { entries.count - taken }

    func forEach(_ body: (Entry) -> Void) { entries[taken...].forEach(body) }

    mutating func append(_ entry: Entry) { entries.append(entry) }

    mutating func popFirst() -> Entry? {
        guard !isEmpty else { return nil }
        let entry = entries[taken]
        taken += 1
        if isEmpty {
            entries.removeAll(keepingCapacity: true)
            taken = 0
        } else if taken >= Self.mostTaken, taken * 2 >= entries.count {
            entries.removeFirst(taken)
            taken = 0
        }
        return entry
    }
}
