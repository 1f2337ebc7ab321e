/// The instants at which a watchdog that has a schedule expects a kick, in wall milliseconds.
extension Grid {
    /// The most milliseconds by which a kick may come early; one that is earlier counts for the instant before.
    private static let mostEarly: Int64 = 60_000
    /// The most instants that `awaited` counts one by one; further ones are found by their number.
    private static let mostCounted: Int64 = 32

    /// The cron schedule of a timer, or of the instants that a watchdog expects.
    private var cron: CronSchedule? {
        switch rules.schedule {
        case .cron(let cron), .expecting(.cron(let cron), _): cron
        default: nil
        }
    }

    /// Returns the first instant of the schedule after `instant`; nil when none follows.
    func expected(after instant: Int64) -> Int64? {
        guard let cron, let zone else { return nil }
        return cron.next(after: instant, in: zone)
    }

    /// Returns the last instant of the schedule at or before `end` of those after `start`, and how many there are;
    /// nil when there is none.
    func expected(after start: Int64, through end: Int64) -> (instant: Int64, count: Int64)? {
        guard let cron, let zone, end > start else { return nil }
        return cron.latest(after: start, through: end, in: zone)
    }

    /// Returns the instant that the watchdog waits for: the `misses`th of the schedule after `instant`. Nil when
    /// there are fewer, or when that one lies after the first of them by more than the longest duration, which
    /// bounds the search.
    func awaited(after instant: Int64) -> Int64? {
        guard let first = expected(after: instant) else { return nil }
        let end = min(lastInstant, first + TimerRules.longestDuration)
        var last = first
        for _ in 1..<max(1, min(rules.misses, Self.mostCounted)) {
            guard let next = expected(after: last), next <= end else { return nil }
            last = next
        }
        guard rules.misses > Self.mostCounted else { return last }
        return awaited(rules.misses - Self.mostCounted, after: last, span: last - first, through: end)
    }

    /// Returns the `count`th instant of the schedule after `instant`; nil when it lies after `end`. The search goes
    /// by how many instants lie before an end: each step counts only on from where fewer were found, so that all
    /// steps together count over the time ahead some three times.
    ///
    /// - Parameter span: the milliseconds that the instants counted one by one take, which the search tries first.
    private func awaited(_ count: Int64, after instant: Int64, span: Int64, through end: Int64) -> Int64? {
        var low = instant
        var high = min(end, instant + span)
        var left = count
        while true {
            let found = expected(after: low, through: high)?.count ?? 0
            if found >= left { break }
            guard high < end else { return nil }
            left -= found
            low = high
            high = min(end, instant + (high - instant) * 2)
        }
        while low + 1 < high {
            let middle = low + (high - low) / 2
            let found = expected(after: low, through: middle)?.count ?? 0
            if found < left {
                left -= found
                low = middle
            } else {
                high = middle
            }
        }
        return high
    }

    /// Returns the instant that the watchdog waits for after a kick at `instant`; the instant that an early kick
    /// counts for is not one of those that follow.
    func awaited(afterKickAt instant: Int64) -> Int64? { awaited(after: counted(forKickAt: instant)) }

    /// Returns the coming instant that an early kick at `instant` counts for, or `instant` itself.
    func counted(forKickAt instant: Int64) -> Int64 {
        guard let next = expected(after: instant), next - instant <= Self.mostEarly else { return instant }
        // The instant before `next` must lie at least twice as far back from it as the kick.
        return expected(after: next - 2 * (next - instant), through: next - 1).map { _ in instant } ?? next
    }
}
