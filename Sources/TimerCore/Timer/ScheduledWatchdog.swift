/// The life of a watchdog that has a schedule: it awaits an instant of the schedule, by the wall clock; then its
/// grace counts, by the timer's own clock, and at the end of the grace it alarms.
extension Step {
    /// Begins the grace, as the awaited instant has come.
    ///
    /// - Parameter isLate: whether the instant passed while the fire loop was stalled, or was skipped by the
    ///   calendar: one grace then begins now and serves all such instants.
    mutating func beginGrace(isLate: Bool, _ effects: inout [Effect]) {
        let instant = progress.due
        progress.flags.remove(.awaiting)
        kicks?.graceFrom = isLate ? now.wall : instant
        if isLate, rules.repeatAlarm {
            kicks?.sharedGrace = grid.expected(after: instant, through: now.wall)?.count ?? 0
        }
        progress.due =
            (isLate ? now.ceiling(on: rules.clock) : now.due(ofWall: instant, on: rules.clock)) + rules.silence
        emit(nil, &effects)
    }

    /// Notes that no grace counts.
    mutating func endGrace() {
        kicks?.graceFrom = 0
        kicks?.sharedGrace = 0
    }

    /// Alarms, as the grace is over.
    ///
    /// - Parameter end: the instant up to which further alarms that were due are part of this one.
    mutating func alarmForExpected(through end: Int64, _ effects: inout [Effect]) {
        noteStalled()
        var (due, missed) = (progress.due, kicks?.sharedGrace ?? 0)
        var from = kicks?.graceFrom ?? 0
        if rules.repeatAlarm, from != 0, end > due, let last = grid.expected(after: from, through: from + (end - due)) {
            missed += last.count
            due += last.instant - from
            from = last.instant
        }
        endGrace()
        let next = rules.repeatAlarm ? furtherGrace(after: due, from: from) : nil
        fire(.stalled, due: due, missed: missed, next: next, &effects)
    }

    /// Plans the next alarm: for the expected instant after `from`, which is the last that the alarm at `due` was
    /// for. If that instant has passed already, its grace began as long after that of `from` as the two instants
    /// lie apart, but not after now.
    ///
    /// - Returns: the new `due`; nil when no instant follows.
    private mutating func furtherGrace(after due: Int64, from: Int64) -> Int64? {
        guard let instant = grid.expected(after: from == 0 ? now.wall : from) else { return nil }
        guard instant <= now.wall else {
            progress.flags.insert(.awaiting)
            return instant
        }
        kicks?.graceFrom = instant
        return min(due + (instant - from), now.ceiling(on: rules.clock) + rules.silence)
    }

    /// Plans the next alarm of a stalled watchdog that is to alarm again from now on: the one for the first instant
    /// whose grace is not over.
    mutating func planFurtherGrace() {
        guard let instant = grid.expected(after: now.wall - rules.silence) else { return }
        progress.flags.remove(.unplanned)
        progress.due = instant
        if instant > now.wall {
            progress.flags.insert(.awaiting)
        } else {
            kicks?.graceFrom = instant
            progress.due = now.due(ofWall: instant, on: rules.clock) + rules.silence
        }
    }
}

/// The instants that a schedule names, in wall milliseconds: those at which the timer fires, or at which a watchdog that
/// has the schedule expects a kick.
extension Grid {
    /// The most milliseconds by which a kick may come early; one that is earlier counts for the instant before.
    private static let mostEarly: Int64 = 60_000
    /// The most instants that `awaited` counts one by one; further ones are found by their number.
    private static let mostCounted: Int64 = 32

    /// Returns the first instant of the schedule after `instant`; nil when none follows.
    func expected(after instant: Int64) -> Int64? {
        if rules.calendar != nil { return shape?.instants?.next(after: instant) }
        return zone.flatMap { rules.schedule.next(after: instant, in: $0) }
    }

    /// Whether an instant that was one of the schedule's still is. For a rule the end of its `COUNT` is not looked for.
    func names(_ instant: Int64) -> Bool {
        if rules.calendar == nil, case .recurrence(let recurrence) = rules.schedule.awaited, let zone {
            return recurrence.names(instant, in: zone)
        }
        return expected(after: instant - 1) == instant
    }

    /// Returns the last instant of the schedule at or before `end` of those after `start`, and how many there are;
    /// nil when there is none.
    func expected(after start: Int64, through end: Int64) -> (instant: Int64, count: Int64)? {
        guard end > start else { return nil }
        if rules.calendar != nil { return shape?.instants?.latest(after: start, through: end) }
        guard let zone else { return nil }
        return rules.schedule.latest(after: start, through: end, in: zone)
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
