import Primitives

extension Scheduler {
    /// Begins a step, which makes the timer's next version at `now`.
    func begin(_ slot: SlotIndex, _ now: Now) -> Step {
        var progress = table.progress(slot)
        progress.version = max(progress.version, lostVersions) + 1
        progress.updatedAt = now.wall
        var grid = Grid(rules(slot), book, progress)
        var replanned = Replanned()
        if let shape = grid.shape, shape.edition != progress.edition {
            replanned = replan(&progress, of: slot, &grid)
        }
        let kicks = grid.rules.schedule.kind == .watchdog ? table.kicks(slot) : nil
        let moved = replanned.at.map { (progress.due, $0) }
        return Step(
            slot: slot, now: now, grid: grid, progress: progress, kicks: kicks, moved: moved, spends: replanned.spends)
    }

    /// Stores a step's outcome and puts the timer where its state belongs.
    ///
    /// - Parameters:
    ///   - effects: the effects so far, the last of which are the step's.
    ///   - isFire: whether the passing of time, not a command, planned the next instant.
    mutating func commit(_ step: borrowing Step, _ effects: inout [Effect], isFire: Bool = false) {
        step.fillInNextFire(&effects)
        disarm(step.slot)
        let (wasRunning, oldDue) = (table[step.slot].state == .running, table[step.slot].due)
        // A timer that a client starts again is not held.
        if !wasRunning && !held.isEmpty { held[step.slot] = nil }
        let due = step.progress.due
        if isFire || !wasRunning || oldDue != due {
            // An instant between a change of the calendar and now was missed, if the server was down.
            let isPast =
                if wasRunning, let moved = step.moved, moved.due == due {
                    due <= moved.at
                } else {
                    due < step.now.ceiling(on: step.progress.dueClock(step.rules.clock))
                }
            table.setPlannedPast(step.slot, !isFire && isPast)
        }
        if step.spends, let spent = step.rules.calendar?.spent {
            var definition = withDefinition(step.slot) { [UInt8](copying: $0) }
            Definition.setSpent(spent, in: &definition)
            table.redefine(step.slot, definition.span)
        }
        table.setProgress(step.slot, step.progress)
        table.setKicks(step.slot, step.kicks)
        arm(step.slot, step.grid, step.now)
    }

    /// Makes a timer.
    ///
    /// - Parameters:
    ///   - definition: the encoded definition, into which the instant of creation is written.
    ///   - key: the key of the same id.
    public mutating func create(
        _ key: borrowing TimerKey, definition: inout [UInt8], _ now: Now, _ effects: inout [Effect]
    ) throws(TimerRefusal) -> SlotIndex {
        Definition.setStart(now.wall, in: &definition)
        let grid = Grid(rules(definition.span, now), book)
        let due = try Self.firstDue(grid, now)
        if table.find(key) != nil { throw .exists }
        guard table.count < maximumTimers else { throw .timerLimit(maximumTimers) }
        Definition.setCreatedAt(now.wall, in: &definition)
        var progress = TimerProgress()
        progress.version = max(versionFloor, arrivingFloor, lostVersions) + 1
        progress.updatedAt = now.wall
        progress.edition = grid.shape?.edition ?? 0
        let slot = table.insert(key, definition: definition.span, progress: progress)
        let kicks = grid.rules.schedule.kind == .watchdog ? KickProgress() : nil
        var step = Step(slot: slot, now: now, grid: grid, progress: progress, kicks: kicks)
        step.emit(.created, &effects)
        if step.rules.start == .now { step.start(due, &effects) }
        commit(step, &effects)
        return slot
    }

    /// Replaces a timer's definition and starts the timer again, in any state.
    ///
    /// - Parameter kept: the state in which the timer stays, idle, running or suspended; nil for the one that
    ///   `start` gives.
    public mutating func replace(
        _ slot: SlotIndex, definition: inout [UInt8], keeping kept: TimerState? = nil, _ now: Now,
        if condition: VersionCondition, _ effects: inout [Effect]
    ) throws(TimerRefusal) {
        Definition.setStart(now.wall, in: &definition)
        let rules = rules(definition.span, now)
        let grid = Grid(rules, book)
        let due = try Self.firstDue(grid, now)
        try condition.check(table[slot].version)
        let stall = stall(slot, now)
        redefine(slot, &definition)
        // The timer is planned again, by the hours as they are.
        table.setEdition(slot, grid.shape?.edition ?? 0)
        if !held.isEmpty { held[slot] = nil }
        var step = begin(slot, now)
        let isSuspended = kept == .suspended
        step.progress.state = isSuspended ? .suspended : .idle
        step.progress.flags.formIntersection(isSuspended ? .unsubscribed : [])
        step.planFromStart(isSuspended ? Self.suspendedDue(due, grid, now) : 0)
        if isSuspended { step.progress.firesSinceActivation = 0 }
        step.emit(recoveryFrom: stall, &effects)
        step.emit(.updated, &effects)
        if kept == .running || (kept == nil && rules.start == .now) { step.start(due, &effects) }
        commit(step, &effects)
    }

    /// Returns the stall of the timer at `slot` by its present rules; nil for a timer that is not a stalled watchdog.
    private func stall(_ slot: SlotIndex, _ now: Now) -> Stall? {
        table[slot].flags.contains(.stalled) ? begin(slot, now).stall : nil
    }

    /// Replaces a timer's definition, except for the instant at which the timer was made and, unless `definition` has
    /// one, the trace context; pending deliveries are sent by the new webhook.
    mutating func redefine(_ slot: SlotIndex, _ definition: inout [UInt8]) {
        let createdAt = layout(slot).createdAt
        let changesWebhook = changesWebhook(slot, definition)
        Definition.setCreatedAt(createdAt, in: &definition)
        withDefinition(slot) { Definition.keepTrace(of: $0, in: &definition) }
        table.redefine(slot, definition.span)
        dropUndeliverable(slot)
        if changesWebhook { requeueDeliveries(slot) }
    }

    /// Whether `definition` has another webhook than the timer at `slot`.
    private func changesWebhook(_ slot: SlotIndex, _ definition: [UInt8]) -> Bool {
        let new = Definition.checkedLayout(definition.span, schedules: schedules).webhook ?? 0..<0
        let webhook = layout(slot).webhook ?? 0..<0
        return withDefinition(slot) { old in
            !Definition.equal(old.extracting(webhook), definition.span.extracting(new))
        }
    }

    /// Changes a timer's definition in place: the timer's state stays, and its pending fire unless the schedule
    /// changed.
    ///
    /// - Parameter startsWebhook: whether a webhook that its receiver stopped takes deliveries again.
    /// - Returns: whether anything changed at all.
    public mutating func amend(
        _ slot: SlotIndex, definition: inout [UInt8], startsWebhook: Bool = false, _ now: Now,
        if condition: VersionCondition, _ effects: inout [Effect]
    ) throws(TimerRefusal) -> Bool {
        Definition.setStart(now.wall, in: &definition)
        let before = begin(slot, now)
        let (old, progress) = (before.rules, before.progress)
        let grid = Grid(rules(definition.span, now), book)
        let rules = grid.rules
        let replans = !rules.plansLike(old)
        let due = try Self.amendedDue(grid, before)
        if replans && progress.state.hasEnded {
            throw .illegalChange(
                state: progress.state, restartable: old.restartable, isWatchdog: old.schedule.kind == .watchdog)
        }
        try condition.check(table[slot].version)
        if holds(slot, definition.span) { return false }
        let stall = replans ? stall(slot, now) : nil
        if !replans, let spent = old.calendar?.spent { Definition.setSpent(spent, in: &definition) }
        redefine(slot, &definition)
        if replans { table.setEdition(slot, grid.shape?.edition ?? 0) }
        var step = begin(slot, now)
        step.moved = before.moved
        if startsWebhook { step.progress.flags.remove(.webhookStopped) }
        if replans {
            step.planFromStart(due)
            step.emit(recoveryFrom: stall, &effects)
        } else if progress.state == .suspended && rules.effectiveResume != old.effectiveResume {
            step.progress.due = Self.converted(progress.due, from: old, to: step.grid, now)
        } else if progress.state.hasEnded {
            step.progress.due += rules.retain - old.retain
        } else if rules.repeatAlarm != old.repeatAlarm {
            step.followRepeatAlarm()
        }
        step.emit(replans && progress.state != .idle ? .rescheduled : .updated, &effects)
        if progress.state == .running && step.isSpent { step.complete(&effects) }
        commit(step, &effects)
        return true
    }

    /// Whether `definition` is that of the timer at `slot`, whenever either was made and whatever trace context either
    /// keeps.
    public func holds(_ slot: SlotIndex, _ definition: Span<UInt8>) -> Bool {
        withDefinition(slot) { Definition.isSame($0, definition) }
    }

    /// Returns the new `due` when the rules change: a full period from now for a running or suspended timer whose
    /// schedule changed, else the old one. Working time goes on where only the calendar changes.
    ///
    /// - Parameter before: a step of the timer as it is.
    static func amendedDue(_ grid: borrowing Grid, _ before: borrowing Step) throws(TimerRefusal) -> Int64 {
        let (rules, old, progress, now) = (grid.rules, before.rules, before.progress, before.now)
        if rules.plansLike(old) {
            // A watchdog is watched up to `until` itself.
            let needed = rules.schedule.kind == .watchdog ? now.ceiling(on: rules.clock) : progress.due
            if progress.state == .running && rules.until != old.until && needed > rules.lastDue(now) {
                throw .invalidSchedule(pointer: "/until", reason: "no fire is due at or before `until`")
            }
            return progress.due
        }
        let due = try firstDue(grid, now)
        if rules.clock == .working, rules.plansLikeUnlessByCalendar(old) {
            let keepsTime = progress.state == .suspended && rules.effectiveResume == .remaining
            guard !keepsTime, progress.state == .running || progress.state == .suspended else { return progress.due }
            let left = before.grid.remaining(until: progress.due, at: now)
            return left > 0 ? grid.due(after: left, now) : progress.due
        }
        switch progress.state {
        case .idle, .cancelled, .completed: return progress.due
        case .running: return due
        case .suspended: return suspendedDue(due, grid, now)
        }
    }

    /// Returns a due instant in the form in which a suspended timer of these rules keeps it. A watchdog with a
    /// schedule keeps its grace: when it is resumed, it begins with the next instant.
    private static func suspendedDue(_ due: Int64, _ grid: borrowing Grid, _ now: Now) -> Int64 {
        if grid.rules.grace != nil { return grid.rules.silence * 1000 }
        return grid.rules.effectiveResume == .remaining ? grid.remaining(until: due, at: now) : due
    }

    /// Returns a suspended timer's `due` in the form that its new resume policy keeps.
    private static func converted(_ due: Int64, from old: TimerRules, to grid: borrowing Grid, _ now: Now) -> Int64 {
        if grid.rules.effectiveResume == .remaining { return suspendedDue(due, grid, now) }
        return old.effectiveResume == .remaining ? grid.due(after: due, now) : due
    }

    /// Deletes a timer.
    public mutating func delete(
        _ slot: SlotIndex, _ now: Now, if condition: VersionCondition, _ effects: inout [Effect]
    ) throws(TimerRefusal) {
        try condition.check(table[slot].version)
        disarm(slot)
        forget(slot, now, reason: .request, &effects)
    }

    mutating func forget(_ slot: SlotIndex, _ now: Now, reason: EventReason, _ effects: inout [Effect]) {
        var step = begin(slot, now)
        step.emit(.deleted, reason: reason, &effects)
        dropDeliveries(slot)
        versionFloor = max(versionFloor, step.progress.version)
        if !held.isEmpty { held[slot] = nil }
        if !late.isEmpty { late[slot] = nil }
        table.unlink(slot)
        unlinked.append(slot)
    }

    /// Applies a command.
    ///
    /// - Parameter target: the target of a `reschedule`; nil for any other command.
    public mutating func apply(
        _ command: TimerCommand, _ slot: SlotIndex, target: RescheduleTarget? = nil, _ now: Now,
        if condition: VersionCondition, _ effects: inout [Effect]
    ) throws(TimerRefusal) {
        var step = begin(slot, now)
        let state = step.progress.state
        let planned = try Self.judge(command, step, target)
        try condition.check(table[slot].version)
        switch command {
        case .activate: step.activate(&effects)
        case .suspend: step.suspend(&effects)
        case .resume: step.resume(&effects)
        case .cancel:
            step.end(.cancelled)
            step.emit(.cancelled, &effects)
        case .fire: step.fireByHand(&effects)
        case .reschedule:
            step.progress.due = planned
            step.progress.flags.remove(.unplanned)
            step.noteMoved()
            step.emit(.rescheduled, &effects)
        case .kick:
            if state == .suspended { return }
            return kick(&step, &effects)
        }
        commit(step, &effects)
    }

    /// Refuses what `apply` would refuse, and changes nothing.
    ///
    /// - Returns: whether `apply` would change anything.
    public func check(
        _ command: TimerCommand, _ slot: SlotIndex, target: RescheduleTarget? = nil, _ now: Now
    ) throws(TimerRefusal) -> Bool {
        let step = begin(slot, now)
        _ = try Self.judge(command, step, target)
        return TimerMachine.transition(command, in: step.progress.state) != .nothing
    }

    /// Refuses a command that is illegal on the timer as it is. Returns the instant to which a `reschedule` moves
    /// `due`, for other commands `due` itself.
    private static func judge(
        _ command: TimerCommand, _ step: borrowing Step, _ target: RescheduleTarget?
    ) throws(TimerRefusal) -> Int64 {
        let state = step.progress.state
        let restartable = step.rules.restartable
        if command == .kick && !step.isWatchdog { throw .notAWatchdog(state: state, restartable: restartable) }
        guard TimerMachine.allows(command, in: state, restartable: restartable, isWatchdog: step.isWatchdog) else {
            throw .illegalTransition(command, state: state, restartable: restartable, isWatchdog: step.isWatchdog)
        }
        if command == .activate, step.rules.calendar != nil, step.grid.shape == nil {
            throw .missingCalendar(state: state, restartable: restartable, isWatchdog: step.isWatchdog)
        }
        return command == .reschedule ? try rescheduled(step, target) : step.progress.due
    }

    /// Moves the next fire to `delay` milliseconds from now, as a receiver of the timer's fires asks; a completed
    /// restartable timer is activated for that. A cancelled timer stays cancelled, because a client ended it.
    ///
    /// - Parameter inDays: whether the receiver wrote days.
    public mutating func putOff(
        _ slot: SlotIndex, by delay: Int64, inDays: Bool = false, _ now: Now, _ effects: inout [Effect]
    ) throws(TimerRefusal) {
        var step = begin(slot, now)
        guard step.progress.state == .completed, step.rules.restartable else {
            return try apply(.reschedule, slot, target: .after(delay, inDays: inDays), now, if: .none, &effects)
        }
        try Self.requireNoDays(inDays, step.rules)
        if step.rules.calendar != nil, step.grid.shape == nil {
            throw .missingCalendar(state: .completed, restartable: true)
        }
        let due = step.grid.end(of: delay, from: now.ceiling(on: step.rules.clock))
        guard !step.isPast(due) else {
            throw .invalidSchedule(pointer: "/after", reason: "the timer's `until` lies before that")
        }
        step.start(due, &effects, isMoved: true)
        commit(step, &effects)
    }

    private static func requireNoDays(_ inDays: Bool, _ rules: TimerRules) throws(TimerRefusal) {
        guard inDays, rules.clock == .working else { return }
        throw .invalidSchedule(pointer: "/after", reason: "working time has no days: write hours")
    }

    /// Gives a watchdog its full period again. The timer's entry in the wheel is then too early, which is found
    /// when the entry comes up: so the most frequent command leaves the wheel alone.
    private mutating func kick(_ step: inout Step, _ effects: inout [Effect]) {
        let before = table.progress(step.slot)
        step.kick(&effects)
        let isArmed = before.isPlanned && !isHeld(step.slot)
        let isSameClock = before.flags.contains(.awaiting) == step.progress.flags.contains(.awaiting)
        let isArmedEarly = isArmed && isSameClock && before.due <= step.progress.due && step.rules.jitter == 0
        guard isArmedEarly, step.progress.isPlanned, !step.isPast(step.fireDue) else { return commit(step, &effects) }
        table.setPlannedPast(step.slot, false)
        table.setProgress(step.slot, step.progress)
        table.setKicks(step.slot, step.kicks)
    }

    /// Returns the new `due` when the next fire is moved to `target`.
    ///
    /// A grid that is moved into the past goes on from its latest point there, which is due at once: the points
    /// before were never due. `until` is checked for a running timer only; a suspended one that was moved past it
    /// completes when it is resumed.
    private static func rescheduled(_ step: borrowing Step, _ target: RescheduleTarget?) throws(TimerRefusal) -> Int64 {
        guard let target else { preconditionFailure("a reschedule comes with its target") }
        let rules = step.rules
        let keepsRemaining = step.progress.state == .suspended && rules.effectiveResume == .remaining
        if case .after(_, let inDays) = target { try requireNoDays(inDays, rules) }
        if keepsRemaining, case .after(let delay, _) = target { return delay * 1000 }
        let (due, pointer) =
            switch target {
            case .after(let delay, _):
                (step.grid.end(of: delay, from: step.now.ceiling(on: rules.clock)), "/after")
            case .at(let wall): (step.grid.opening(step.now.due(ofWall: wall, on: rules.clock)), "/at")
            }
        if keepsRemaining { return step.grid.remaining(until: due, at: step.now) }
        if step.progress.state == .running && step.isPast(due) {
            throw .invalidSchedule(pointer: pointer, reason: "the timer's `until` lies before that")
        }
        // The instants that a schedule names do not move with `due`.
        if step.grid.namesInstants || rules.grace != nil { return due }
        let reached = min(step.now.milliseconds(on: rules.clock), rules.lastDue(step.now))
        return step.grid.goingOn(from: due).latest(from: due, through: reached).due
    }
}
