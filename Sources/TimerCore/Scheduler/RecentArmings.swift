/// The timers that were armed last, `capacity` of them, and the number of all armings.
struct RecentArmings {
    /// The identity of a run of armings: as long as it is the same, every timer armed since is counted here.
    final class Era: Sendable {}

    /// The most armings that are remembered.
    static let capacity = 4096

    let era = Era()
    /// A ring of the timers armed last, as many as there have been up to the capacity.
    private var slots: [SlotIndex] = []
    /// The number of all armings.
    private(set) var count = 0

    mutating func append(_ slot: SlotIndex) {
        if slots.count == Self.capacity { slots[count % Self.capacity] = slot } else { grow(slot) }
        count += 1
    }

    // Kept out of `append`, which every arming calls, so that `append` is inlined.
    @inline(never) private mutating func grow(_ slot: SlotIndex) { slots.append(slot) }

    /// Returns the timers armed after the first `seen`; nil when not all of them are remembered any more.
    func after(_ seen: Int) -> [SlotIndex]? {
        guard count - seen <= Self.capacity else { return nil }
        return (seen..<count).map { slots[$0 % Self.capacity] }
    }
}
