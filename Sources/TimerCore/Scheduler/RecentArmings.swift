/// The timers that were armed last: a ring of so many, and a count of all.
struct RecentArmings {
    /// As long as this is the same, no timer was armed but what is counted here.
    final class Era: Sendable {}

    /// How many are remembered.
    static let capacity = 4096

    let era = Era()
    /// As many as there have been, up to the capacity.
    private var slots: [SlotIndex] = []
    /// How many there have been.
    private(set) var count = 0

    mutating func append(_ slot: SlotIndex) {
        if slots.count == Self.capacity { slots[count % Self.capacity] = slot } else { grow(slot) }
        count += 1
    }

    // Kept out of `append`, which every arming calls, so that `append` is inlined.
    @inline(never) private mutating func grow(_ slot: SlotIndex) { slots.append(slot) }

    /// Those after the first `seen`; nil when not all of them are remembered any more.
    func after(_ seen: Int) -> [SlotIndex]? {
        guard count - seen <= Self.capacity else { return nil }
        return (seen..<count).map { slots[$0 % Self.capacity] }
    }
}
