/// The life of a watchdog that has a schedule: it awaits an instant of the schedule, by the wall clock; then its
/// grace counts, by the timer's own clock, and at the end of the grace it alarms.
extension Step {
    /// Begins the grace, as the awaited instant has come.
    ///
    /// - Parameter isLate: whether the instant passed while the fire loop was stalled, or was skipped by the
    ///   calendar: one grace then counts from now, for all instants that passed so.
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
