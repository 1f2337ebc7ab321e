/// The effect of each command on a timer in a state in which it is legal.
extension Step {
    mutating func activate(_ effects: inout [Effect]) {
        let due = grid.first(activatedAt: now)
        start(due ?? 0, &effects)
        plan(due, &effects)
    }

    /// - Parameters:
    ///   - reason: the reason, if no command caused it.
    ///   - instant: the instant as of which the time left is kept; nil for now.
    mutating func suspend(because reason: EventReason = .none, asOf instant: Now? = nil, _ effects: inout [Effect]) {
        progress.state = .suspended
        progress.flags.subtract([.unplanned, .awaiting])
        if reason == .unsubscribed { progress.flags.insert(.unsubscribed) }
        if isWatchdog {
            // A resumed watchdog begins with the next instant of its schedule, unless a client moves it meanwhile.
            if rules.grace != nil { progress.flags.remove(.moved) }
            endGrace()
            progress.due = rules.silence * 1000
        } else if rules.effectiveResume == .remaining {
            progress.due = (instant ?? now).remaining(until: progress.due, on: rules.clock)
        }
        emit(.suspended, reason: reason, &effects)
    }

    mutating func resume(_ effects: inout [Effect]) {
        progress.state = .running
        progress.flags.remove(.unsubscribed)
        if rules.effectiveResume == .remaining {
            let isExpecting = rules.grace != nil && !progress.flags.contains(.moved)
            let due = isExpecting ? grid.awaited(after: now.wall) : Scheduler.due(after: progress.due, rules, now)
            let stall = stall
            if isWatchdog { planFromStart(due ?? 0) } else if let due { progress.due = due }
            if rules.grace != nil, !isExpecting { noteMoved() }
            emit(recoveryFrom: stall, &effects)
            emit(.resumed, &effects)
            return plan(due, &effects)
        }
        let due = progress.due
        let reached = min(now.milliseconds(on: rules.clock), rules.lastDue(now))
        guard due <= reached, !isSpent else {
            emit(.resumed, &effects)
            return plan(due, &effects)
        }
        let last = grid.latest(from: due, through: reached)
        let next = next(after: last.due)
        if rules.effectiveResume == .deadline {
            emit(.resumed, &effects)
            fire(.resumed, due: last.due, missed: last.before, next: next, &effects)
        } else {
            progress.missedCount += last.before + 1
            if let next { progress.due = next }
            emit(.resumed, &effects)
            plan(next, &effects)
        }
    }

    /// Fires now; the schedule stays as it is.
    mutating func fireByHand(_ effects: inout [Effect]) {
        let isOneShot = rules.schedule.kind == .oneShot
        let instant = now.milliseconds(on: rules.clock)
        fire(.manual, due: instant, missed: 0, next: isOneShot || !progress.isPlanned ? nil : progress.due, &effects)
    }

    /// Gives a watchdog its full period again; one that was stalled recovers.
    mutating func kick(_ effects: inout [Effect]) {
        let stall = stall
        if rules.grace == nil {
            planFromStart(now.ceiling(on: rules.clock) + rules.silence)
        } else {
            let awaited = grid.awaited(afterKickAt: now.wall)
            planFromStart(awaited ?? 0)
            if awaited == nil { progress.flags.insert(.unplanned) }
        }
        kicks?.silentSince = now.wall
        kicks?.kickCount += 1
        if stall == nil { emit(nil, &effects) } else { emit(recoveryFrom: stall, &effects) }
    }

    /// Plans further alarms of a stalled watchdog, or none, by its changed rules.
    mutating func followRepeatAlarm() {
        guard progress.state == .running, progress.flags.contains(.stalled), let since = kicks?.stalledSince else {
            return
        }
        guard rules.repeatAlarm else {
            progress.flags.insert(.unplanned)
            progress.flags.remove(.awaiting)
            endGrace()
            return
        }
        guard rules.grace == nil else { return planFurtherGrace() }
        let passed = grid.latest(from: since, through: now.milliseconds(on: rules.clock)).due
        progress.flags.remove(.unplanned)
        progress.due = grid.afterwards(passed) ?? passed
    }
}
