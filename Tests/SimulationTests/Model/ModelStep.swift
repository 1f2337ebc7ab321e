@testable import TimerCore

/// One step on one timer of the model.
struct ModelStep {
    var timer: ModelTimer
    let now: Now
    /// The nanoseconds for which the server had been up.
    let uptime: Int64
    var events: [ModelEvent] = []

    init(_ timer: ModelTimer, _ now: Now, uptime: Int64) {
        self.timer = timer
        self.now = now
        self.uptime = uptime
        self.timer.progress.version += 1
        self.timer.progress.updatedAt = now.wall
    }

    var rules: TimerRules { timer.rules }

    mutating func record(
        _ type: EventType?, reason: EventReason = .none, fire: FireDetail? = nil, stalledFor: Int64? = nil,
        silentFor: Int64? = nil
    ) {
        let owes = type.map { rules.deliveries.contains($0) } ?? false
        events.append(
            ModelEvent(
                type: type, reason: reason, fire: fire, stalledFor: stalledFor, silentFor: silentFor,
                owes: owes && !timer.progress.flags.contains(.webhookStopped), progress: timer.progress,
                kicks: timer.kicks))
    }

    /// Records the recovery of a watchdog from `stall`, if it was stalled.
    mutating func record(recoveryFrom stall: ModelStall?) {
        guard let stall else { return }
        record(.recovered, stalledFor: stall.stalledFor, silentFor: stall.silentFor)
    }

    mutating func end(_ state: TimerState, _ type: EventType) {
        timer.progress.state = state
        timer.progress.flags.formIntersection([.stalled, .webhookStopped])
        timer.progress.due = now.up(.continuous) + rules.retain
        record(type)
    }

    /// Goes on with `due`, or completes.
    mutating func goOn(_ due: Int64?) {
        let isWatched = timer.isWatchdog && !timer.isOver(now)
        guard let due, !timer.isSpent, isWatched || !timer.isPast(due, now) else { return end(.completed, .completed) }
        timer.progress.due = due
    }

    /// Plans the next fire by a command.
    mutating func plan(_ due: Int64) {
        timer.progress.due = due
        notePlanned(byCommand: true)
    }

    mutating func notePlanned(byCommand: Bool) {
        timer.plannedAt = (uptime, now.down(rules.clock))
        timer.hiccups = 0
        timer.isDueAtOnce = byCommand && timer.progress.due < now.up(rules.clock)
        guard byCommand else { return }
        timer.gridStart = timer.progress.due
        timer.gridFires = 0
        timer.gridMissed = 0
        timer.lastDue = nil
    }

    /// - Parameter isMoved: whether the first fire is due when a receiver asked for it, not when the schedule says.
    mutating func start(_ due: Int64, isMoved: Bool = false) {
        timer.progress.state = .running
        timer.progress.firesSinceActivation = 0
        let stall = timer.stall(now)
        timer.forgetPlan(now)
        if isMoved { timer.progress.flags.insert(.moved) }
        plan(due)
        record(recoveryFrom: stall)
        record(.activated)
    }

    /// Fires for `due`, which stands for `missed` others too, and goes on with `next`.
    mutating func fire(_ reason: EventReason, _ due: Int64, missed: Int64, next: Int64?) {
        timer.progress.fireCount += 1
        timer.progress.firesSinceActivation += 1
        timer.progress.missedCount += missed
        timer.progress.lastFiredAt = now.wall
        if let next { timer.progress.due = next }
        if reason != .manual {
            timer.gridFires += 1
            timer.gridMissed += missed
            timer.lastDue = due
            leaveMovedInstant(next)
        }
        let waits = next == nil && timer.isWatchdog
        if waits { timer.progress.flags.insert(.unplanned) }
        let lateness = max(0, now.microseconds(rules.clock) - due * 1000)
        record(
            .fired, reason: reason,
            fire: FireDetail(
                scheduledAt: now.wall(of: due, on: rules.clock), latenessUs: lateness, missed: missed))
        if reason != .manual { notePlanned(byCommand: false) }
        if waits && !timer.isSpent && !timer.isOver(now) { return }
        goOn(next)
    }
}

/// The effects of time on a timer.
extension ModelStep {
    /// Fires the instants due at `now`.
    ///
    /// - Parameter misfires: the instant through which due instants passed while the loop was stalled.
    mutating func fireDue(misfires: Int64) throws(BrokenPromise) {
        if timer.progress.state.hasEnded {
            try promise(timer.progress.due <= now.down(.continuous), "\(timer.id) is forgotten before its `retain`")
            return record(.deleted, reason: .expired)
        }
        try promise(timer.progress.state == .running, "\(timer.id) fires while \(timer.progress.state.name)")
        let due = timer.progress.due
        let isWatchedTo = !timer.progress.isPlanned || timer.isPast(due, now)
        if timer.isWatchdog && timer.isOver(now) && isWatchedTo { return end(.completed, .completed) }
        try promise(timer.progress.isPlanned, "\(timer.id) fires although none is planned")
        try promise(
            timer.earliest <= now.down(rules.clock), "\(timer.id) fires early: planned \(timer.earliest), \(now)")
        if rules.clock == .suspending {
            let silent = uptime - timer.plannedAt.uptime
            let planned = (due - timer.plannedAt.instant) * 1_000_000
            try promise(silent >= planned - 2_000_000, "\(timer.id) fires after \(silent) of \(planned) ns of uptime")
        }
        if timer.isPast(due, now) { return end(.completed, .completed) }
        try promise(timer.lastDue.map { $0 < due } ?? true, "\(timer) fires twice for \(due) at \(now)")
        let isMissed = due <= misfires && timer.planned <= misfires && !timer.isDueAtOnce
        if timer.isWatchdog {
            let last = isMissed ? latest(through: misfires) : (due: due, before: 0)
            if !timer.progress.flags.contains(.stalled) { timer.kicks?.stalledSince = due }
            timer.progress.flags.insert(.stalled)
            return fire(.stalled, last.due, missed: last.before, next: timer.following(last.due, now))
        }
        if isMissed { return misfire(through: misfires) }
        fire(.due, due, missed: 0, next: timer.following(due, now))
    }

    /// Ends a move by a client, whose instant is due. A calendar schedule goes on from now, where its grid
    /// begins again.
    private mutating func leaveMovedInstant(_ next: Int64?) {
        guard timer.progress.flags.contains(.moved) else { return }
        timer.progress.flags.remove(.moved)
        guard timer.namedPeriod != nil, let next else { return }
        timer.gridStart = next
        timer.gridFires = 0
        timer.gridMissed = 0
    }

    private func latest(through end: Int64) -> (due: Int64, before: Int64) {
        var end = end
        if let until = rules.until { end = min(end, now.due(ofWall: until, on: rules.clock)) }
        return timer.latest(from: timer.progress.due, through: end)
    }

    private mutating func misfire(through end: Int64) {
        let due = timer.progress.due
        let last = latest(through: end)
        let oldest = rules.misfireGrace.map { now.down(rules.clock) - $0 } ?? .min
        if rules.misfire == .skip || last.due < oldest {
            let count = last.before + 1
            timer.progress.missedCount += count
            timer.gridMissed += count
            goOn(timer.following(last.due, now))
            guard timer.progress.state == .running else { return }
            leaveMovedInstant(timer.progress.due)
            notePlanned(byCommand: false)
            return record(nil)
        }
        if rules.misfire == .once {
            return fire(.misfire, last.due, missed: last.before, next: timer.following(last.due, now))
        }
        // The first of the latest thousand that is not too old; earlier ones are dropped.
        var dropped = max(0, last.before + 1 - 1000)
        if last.before > 0 {
            dropped = min(last.before, max(dropped, timer.count(from: due, before: oldest)))
        }
        let first = timer.instant(dropped, after: due)
        fire(.misfire, first, missed: dropped, next: timer.following(first, now))
    }
}
