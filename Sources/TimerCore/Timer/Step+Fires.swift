/// The fire, alarm or misfire of a timer whose due instant has come.
extension Step {
    /// Returns the due instant after the one at `due`. A cron schedule goes on after now if a client had moved `due`.
    func next(after due: Int64) -> Int64? {
        grid.following(progress.flags.contains(.moved) && grid.isCron ? max(due, now.wall) : due, now)
    }

    /// Fires a watchdog that was not kicked in time, as of `due`.
    mutating func alarm(_ due: Int64, missed: Int64, _ effects: inout [Effect]) {
        noteStalled()
        fire(.stalled, due: due, missed: missed, next: next(after: due), &effects)
    }

    /// Notes that a watchdog stalls as of the alarm that is due, unless it is stalled already.
    mutating func noteStalled() {
        if !progress.flags.contains(.stalled) {
            progress.flags.insert(.stalled)
            kicks?.stalledSince = progress.due
        }
    }

    /// Applies the misfire policy to the due instants from the planned one through `end`, which passed while the
    /// fire loop was stalled.
    mutating func misfire(through end: Int64, _ effects: inout [Effect]) {
        if rules.grace != nil { return alarmForExpected(through: min(end, rules.lastDue(now)), &effects) }
        let due = progress.due
        let last = grid.latest(from: due, through: min(end, rules.lastDue(now)))
        let next = next(after: last.due)
        if isWatchdog { return alarm(last.due, missed: last.before, &effects) }
        let oldest = rules.misfireGrace.map { now.milliseconds(on: rules.clock) - $0 } ?? .min
        guard rules.misfire != .skip, last.due >= oldest else { return drop(last.before + 1, next: next, &effects) }
        guard rules.misfire == .all else {
            return fire(.misfire, due: last.due, missed: last.before, next: next, &effects)
        }
        let kept = grid.kept(
            from: due, last: last.due, before: last.before, notBefore: oldest, most: Scheduler.mostCaughtUp)
        fire(.misfire, due: kept.due, missed: kept.dropped, next: self.next(after: kept.due), &effects)
    }

    /// Drops and counts missed due instants. No event shows them, unless no fire is left and the timer completes.
    private mutating func drop(_ count: Int64, next: Int64?, _ effects: inout [Effect]) {
        progress.missedCount += count
        plan(next, &effects)
        if progress.state == .running {
            progress.flags.remove(.moved)
            emit(nil, &effects)
        }
    }
}
