/// One step on one timer: what it changes, and the effects it yields, which share a version and an instant.
struct Step: ~Copyable {
    let slot: SlotIndex
    let now: Now
    var grid: Grid
    var progress: TimerProgress
    /// The rest of a watchdog's progress; nil for other kinds.
    var kicks: KickProgress?
    /// The due instant by opening hours that have changed, and the instant of the change; nil for a timer that none moved.
    var moved: (due: Int64, at: Int64)?
    /// Whether instants of the schedule are spent that were not, so that the definition is written again.
    var spends = false

    // Read in place: a copy would cost more than most readers of a rule do.
    var rules: TimerRules {
        _read { yield grid.rules }
    }

    var isWatchdog: Bool { kicks != nil }

    /// Appends an event with the progress as it now is; without a type, a change that no stream shows.
    mutating func emit(
        _ type: EventType?, reason: EventReason = .none, fire: FireDetail? = nil, stalledFor: Int64? = nil,
        silentFor: Int64? = nil,
        _ effects: inout [Effect]
    ) {
        if progress.flags.contains(.ownGrid), let local = grid.local {
            let isInGap = local.isInGap(progress.due)
            if isInGap { progress.flags.insert(.readInGap) } else { progress.flags.remove(.readInGap) }
        }
        let owesDelivery = type.map { rules.deliveries.contains($0) } ?? false
        effects.append(
            Effect(
                type: type, reason: reason, at: now.wall, slot: slot, progress: progress, kicks: kicks, fire: fire,
                stalledFor: stalledFor, silentFor: silentFor, redefines: spends && type != .deleted,
                owesDelivery: owesDelivery && !progress.flags.contains(.webhookStopped)))
    }

    /// The stall of a watchdog that alarms, as it would be if it ended now; nil for a timer that is not stalled.
    var stall: Stall? {
        guard progress.flags.contains(.stalled), let kicks else { return nil }
        let stalledFor = max(0, now.milliseconds(on: rules.clock) - kicks.stalledSince)
        // The silence is by the calendar, as both kicks are shown, but never shorter than the stall, even if the
        // calendar was set back. Earlier versions did not log when a watchdog without kicks was started.
        let silentFor =
            kicks.silentSince == 0 ? stalledFor + rules.silence : max(stalledFor, now.wall - kicks.silentSince)
        return Stall(stalledFor: stalledFor, silentFor: silentFor)
    }

    /// Appends the `recovered` event of a stall that has ended, before the event of what ended it; nothing for nil.
    mutating func emit(recoveryFrom stall: Stall?, _ effects: inout [Effect]) {
        guard let stall else { return }
        emit(.recovered, stalledFor: stall.stalledFor, silentFor: stall.silentFor, &effects)
    }

    /// Fills in, at the end of the step, when the next fire is planned: in the step's own events, the last of
    /// `effects`.
    func fillInNextFire(_ effects: inout [Effect]) {
        let next = progress.nextFireAt(grid.rules, now)
        var index = effects.count - 1
        while index >= 0, effects[index].slot == slot, effects[index].progress.version == progress.version {
            effects[index].nextFireAt = next
            index -= 1
        }
    }

    /// Returns the microseconds from the due instant `due` to now; negative before it.
    func microseconds(since due: Int64) -> Int64 {
        floorDivide(now.nanoseconds(on: rules.clock), 1000) - due * 1000
    }

    /// The instant at which the planned fire is due, in milliseconds on the timer's clock.
    var fireDue: Int64 { progress.fireDue(rules, now) }

    /// Whether `due` lies after `until`, so that no fire may be due then.
    func isPast(_ due: Int64) -> Bool { due > rules.lastDue(now) }

    /// Whether `maxFires` is reached.
    var isSpent: Bool { rules.maxFires.map { progress.firesSinceActivation >= $0 } ?? false }

    /// Ends the timer; from now on `due` is the instant at which it is forgotten.
    mutating func end(_ state: TimerState) {
        progress.state = state
        // An ended timer still shows whether it was stalled.
        progress.flags.formIntersection([.stalled, .webhookStopped])
        progress.due = now.ceiling(on: .continuous) + rules.retain
        endGrace()
    }

    /// Ends the timer because no fire is left.
    mutating func complete(_ effects: inout [Effect]) {
        end(.completed)
        emit(.completed, &effects)
    }

    /// Starts the timer, with its first fire due at `due`.
    ///
    /// - Parameter isMoved: whether a client chose that instant, not the schedule.
    mutating func start(_ due: Int64, _ effects: inout [Effect], isMoved: Bool = false) {
        progress.state = .running
        progress.flags.remove(.unsubscribed)
        progress.firesSinceActivation = 0
        let stall = stall
        planFromStart(due)
        if isMoved { noteMoved() }
        emit(recoveryFrom: stall, &effects)
        emit(.activated, &effects)
    }

    /// Notes that a client chose the planned instant, on the timer's clock.
    mutating func noteMoved() {
        progress.flags.remove(.awaiting)
        progress.flags.insert(.moved)
        endGrace()
        guard grid.local != nil else { return }
        progress.flags.insert(.ownGrid)
        grid.goOn(from: progress.due)
    }

    /// Plans as after an activation: a watchdog's health is ok again.
    mutating func planFromStart(_ due: Int64) {
        progress.due = due
        progress.flags.formIntersection([.webhookStopped, .unsubscribed])
        if rules.grace != nil && progress.state == .running { progress.flags.insert(.awaiting) }
        kicks?.stalledSince = 0
        if kicks?.kickCount == 0 { kicks?.silentSince = now.wall }
        endGrace()
    }

    /// Counts a fire, plans the one after at `next` (nil: none) and emits both events: the fire, and the completion
    /// when nothing may follow. The progress is planned before the fire is emitted, since its event is what the log
    /// keeps.
    mutating func fire(
        _ reason: EventReason, due: Int64, missed: Int64, next: Int64?, _ effects: inout [Effect]
    ) {
        progress.fireCount += 1
        progress.firesSinceActivation += 1
        progress.missedCount += missed
        progress.lastFiredAt = now.wall
        // A watchdog stays running without a planned fire: it may be kicked.
        let waits = next == nil && isWatchdog
        if let next { progress.due = next }
        if reason != .manual { progress.flags.remove(.moved) }
        if waits { progress.flags.insert(.unplanned) }
        let detail = FireDetail(
            scheduledAt: now.wall(of: due, on: rules.clock), latenessUs: max(0, microseconds(since: due)),
            missed: missed)
        emit(.fired, reason: reason, fire: detail, &effects)
        if waits && !isSpent && !isOver { return }
        plan(next, &effects)
    }

    /// Plans the next fire at `due`, or completes the timer when nothing may follow.
    mutating func plan(_ due: Int64?, _ effects: inout [Effect]) {
        // A watchdog is watched up to `until` itself.
        guard let due, !isSpent else { return complete(&effects) }
        progress.due = due
        guard !isPast(fireDue) || (isWatchdog && !isOver) else { return complete(&effects) }
    }

    /// Whether `until` has come.
    var isOver: Bool { rules.until.map { now.wall >= $0 } ?? false }
}

/// The times for which a watchdog was stalled and silent, in milliseconds.
struct Stall: Equatable {
    /// The time since the first alarm.
    var stalledFor: Int64
    /// The time since the kick before, or since the watchdog was started if there was none.
    var silentFor: Int64
}

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
            progress.due = grid.remaining(until: progress.due, at: instant ?? now)
        }
        emit(.suspended, reason: reason, &effects)
    }

    mutating func resume(_ effects: inout [Effect]) {
        progress.state = .running
        progress.flags.remove(.unsubscribed)
        if rules.effectiveResume == .remaining {
            let isExpecting = rules.grace != nil && !progress.flags.contains(.moved)
            let due = isExpecting ? grid.awaited(after: now.wall) : grid.due(after: progress.due, now)
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

    /// Gives a watchdog its full period again; one that was stalled recovers. One whose recurrence has no further instant
    /// completes.
    mutating func kick(_ effects: inout [Effect]) {
        let stall = stall
        var isLast = false
        if rules.grace == nil {
            planFromStart(now.ceiling(on: rules.clock) + rules.silence)
        } else {
            let awaited = grid.awaited(afterKickAt: now.wall)
            planFromStart(awaited ?? 0)
            if awaited == nil { progress.flags.insert(.unplanned) }
            isLast = grid.expected(after: grid.counted(forKickAt: now.wall)) == nil
        }
        kicks?.silentSince = now.wall
        kicks?.kickCount += 1
        if stall == nil { emit(nil, &effects) } else { emit(recoveryFrom: stall, &effects) }
        if isLast { complete(&effects) }
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

/// The fire, alarm or misfire of a timer whose due instant has come.
extension Step {
    /// Returns the due instant after the one at `due`. A schedule that names its instants goes on after now if a client
    /// had moved `due`.
    func next(after due: Int64) -> Int64? {
        grid.following(progress.flags.contains(.moved) && grid.namesInstants ? max(due, now.wall) : due, now)
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
