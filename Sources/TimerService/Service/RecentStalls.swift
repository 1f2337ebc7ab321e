/// The stalls of the last minute that are needed to find the longest: one that a later one equals or exceeds is not.
struct RecentStalls {
    /// The time for which a stall counts from its end, in nanoseconds.
    static let window: Int64 = 60_000_000_000

    /// The stalls, oldest and longest first.
    private var stalls: [(endedAt: Int64, length: Int64)] = []

    /// Notes a stall of `length` nanoseconds that ended by `now`.
    mutating func note(_ length: Int64, at now: Int64) {
        forget(before: now)
        while let last = stalls.last, last.length <= length { stalls.removeLast() }
        stalls.append((now, length))
    }

    /// Returns the longest stall, in nanoseconds; 0 for none.
    mutating func longest(at now: Int64) -> Int64 {
        forget(before: now)
        return stalls.first?.length ?? 0
    }

    private mutating func forget(before now: Int64) {
        stalls.removeSubrange(..<(stalls.firstIndex { now - $0.endedAt <= Self.window } ?? stalls.count))
    }
}
