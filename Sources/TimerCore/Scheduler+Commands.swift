/// What a `reschedule` moves the next due instant to.
public enum RescheduleTarget: Sendable, Equatable {
    /// That many milliseconds from now.
    case after(Int64)
    /// A wall instant in milliseconds.
    case at(Int64)
}

/// A condition on a timer's version that a change depends on.
public enum VersionCondition: Sendable, Equatable {
    /// Whatever it is.
    case none
    /// One of these.
    case oneOf([Int64])
    /// There is a timer.
    case exists

    func check(_ version: Int64) throws(TimerRefusal) {
        if case .oneOf(let versions) = self, !versions.contains(version) {
            throw .versionMismatch(current: version)
        }
    }
}

extension Scheduler {
    /// Begins a step: the timer's next version, at `now`.
    func begin(_ slot: SlotIndex, _ now: Now) -> Step {
        var progress = table[slot].progress
        progress.version += 1
        progress.updatedAt = now.wall
        return Step(slot: slot, now: now, rules: rules(slot), progress: progress)
    }

    /// Takes a step's outcome over: stores it and puts the timer where its state belongs.
    ///
    /// - Parameter isFire: time planned the next instant, no command did.
    mutating func commit(_ step: borrowing Step, isFire: Bool = false) {
        disarm(step.slot)
        let old = table[step.slot].progress
        let due = step.progress.due
        if isFire || old.state != .running || old.due != due {
            let isPast = due < step.now.ceiling(on: step.rules.clock)
            table.setPlannedPast(step.slot, !isFire && isPast)
        }
        table.setProgress(step.slot, step.progress)
        if step.progress.state == .running {
            arm(step.slot, on: step.rules.clock)
        } else if step.progress.state.hasEnded {
            arm(step.slot, on: .continuous)
        }
    }

    /// Makes a timer.
    ///
    /// - Parameters:
    ///   - definition: encoded; takes the instant it was made.
    ///   - key: of the same id.
    public mutating func create(
        _ key: borrowing TimerKey, definition: inout [UInt8], _ now: Now, _ effects: inout [Effect]
    ) throws(TimerRefusal) -> SlotIndex {
        guard let rules = Definition.layout(definition.span)?.rules else {
            preconditionFailure("a definition is encoded by `Definition.encode`")
        }
        let due = try Self.firstDue(rules, now)
        if table.find(key) != nil { throw .exists }
        guard table.count < maximumTimers else { throw .timerLimit(maximumTimers) }
        Definition.setCreatedAt(now.wall, in: &definition)
        var progress = TimerProgress()
        progress.version = versionFloor + 1
        progress.updatedAt = now.wall
        let slot = table.insert(key, definition: definition.span, progress: progress)
        var step = Step(slot: slot, now: now, rules: rules, progress: progress)
        step.emit(.created, &effects)
        if rules.start == .now { start(&step, due, &effects) }
        commit(step)
        return slot
    }

    private func start(_ step: inout Step, _ due: Int64, _ effects: inout [Effect]) {
        step.progress.state = .running
        step.progress.firesSinceActivation = 0
        step.progress.due = due
        step.emit(.activated, &effects)
    }

    /// Replaces a timer's definition and starts it afresh, in any state.
    public mutating func replace(
        _ slot: SlotIndex, definition: inout [UInt8], _ now: Now, if condition: VersionCondition,
        _ effects: inout [Effect]
    ) throws(TimerRefusal) {
        guard let rules = Definition.layout(definition.span)?.rules else {
            preconditionFailure("a definition is encoded by `Definition.encode`")
        }
        let due = try Self.firstDue(rules, now)
        try condition.check(table[slot].progress.version)
        redefine(slot, &definition)
        var step = begin(slot, now)
        step.progress.state = .idle
        step.progress.due = 0
        step.emit(.updated, &effects)
        if rules.start == .now { start(&step, due, &effects) }
        commit(step)
    }

    private mutating func redefine(_ slot: SlotIndex, _ definition: inout [UInt8]) {
        let createdAt = withDefinition(slot, Definition.layout)?.createdAt ?? 0
        Definition.setCreatedAt(createdAt, in: &definition)
        table.redefine(slot, definition.span)
    }

    /// Changes a timer's definition in place: its state stays, and its pending fire unless the schedule changed.
    ///
    /// - Returns: whether anything changed at all.
    public mutating func amend(
        _ slot: SlotIndex, definition: inout [UInt8], _ now: Now, if condition: VersionCondition,
        _ effects: inout [Effect]
    ) throws(TimerRefusal) -> Bool {
        let old = rules(slot)
        let progress = table[slot].progress
        guard let rules = Definition.layout(definition.span)?.rules else {
            preconditionFailure("a definition is encoded by `Definition.encode`")
        }
        let replans = !rules.plansLike(old)
        let due = try Self.amendedDue(rules, old, progress, now)
        if replans && progress.state.hasEnded {
            throw .illegalChange(state: progress.state, restartable: old.restartable)
        }
        try condition.check(progress.version)
        redefineForComparison(slot, &definition)
        if withDefinition(slot, { Self.equal($0, definition.span) }) { return false }
        redefine(slot, &definition)
        var step = begin(slot, now)
        if replans {
            step.progress.due = due
        } else if progress.state == .suspended && rules.effectiveResume != old.effectiveResume {
            step.progress.due = Self.converted(progress.due, from: old, to: rules, now)
        } else if progress.state.hasEnded {
            step.progress.due += rules.retain - old.retain
        }
        step.emit(replans && progress.state != .idle ? .rescheduled : .updated, &effects)
        if progress.state == .running && step.isSpent {
            step.end(.completed)
            step.emit(.completed, &effects)
        }
        commit(step)
        return true
    }

    private func redefineForComparison(_ slot: SlotIndex, _ definition: inout [UInt8]) {
        Definition.setCreatedAt(withDefinition(slot, Definition.layout)?.createdAt ?? 0, in: &definition)
    }

    private static func equal(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        for index in left.indices where left[index] != right[index] { return false }
        return true
    }

    /// What `due` becomes when the rules change: the full period from now if the schedule changed, else what it was.
    private static func amendedDue(
        _ rules: TimerRules, _ old: TimerRules, _ progress: TimerProgress, _ now: Now
    ) throws(TimerRefusal) -> Int64 {
        if rules.plansLike(old) {
            if progress.state == .running && rules.until != old.until && progress.due > rules.lastDue(now) {
                throw .invalidSchedule(pointer: "/until", reason: "no fire is due at or before `until`")
            }
            return progress.due
        }
        let due = try firstDue(rules, now)
        switch progress.state {
        case .idle, .cancelled, .completed: return progress.due
        case .running: return due
        case .suspended: return rules.effectiveResume == .remaining ? now.remaining(until: due, on: rules.clock) : due
        }
    }

    /// A suspended timer's `due` in the form its new resume policy keeps it in.
    private static func converted(_ due: Int64, from old: TimerRules, to rules: TimerRules, _ now: Now) -> Int64 {
        if rules.effectiveResume == .remaining { return now.remaining(until: due, on: rules.clock) }
        return old.effectiveResume == .remaining ? self.due(after: due, rules, now) : due
    }

    /// The due instant `microseconds` from now.
    static func due(after microseconds: Int64, _ rules: TimerRules, _ now: Now) -> Int64 {
        let nowUs = -floorDivide(-now.nanoseconds(on: rules.clock), 1000)
        return -floorDivide(-(nowUs + microseconds), 1000)
    }

    /// Deletes a timer.
    public mutating func delete(
        _ slot: SlotIndex, _ now: Now, if condition: VersionCondition, _ effects: inout [Effect]
    ) throws(TimerRefusal) {
        try condition.check(table[slot].progress.version)
        disarm(slot)
        forget(slot, now, reason: .request, &effects)
    }

    mutating func forget(_ slot: SlotIndex, _ now: Now, reason: EventReason, _ effects: inout [Effect]) {
        let step = begin(slot, now)
        step.emit(.deleted, reason: reason, &effects)
        versionFloor = max(versionFloor, step.progress.version)
        table.unlink(slot)
        unlinked.append(slot)
    }

    /// Applies a command.
    ///
    /// - Parameter target: for `reschedule`, and only for it.
    public mutating func apply(
        _ command: TimerCommand, _ slot: SlotIndex, target: RescheduleTarget? = nil, _ now: Now,
        if condition: VersionCondition, _ effects: inout [Effect]
    ) throws(TimerRefusal) {
        var step = begin(slot, now)
        let state = step.progress.state
        if command == .kick { throw .notAWatchdog(state: state, restartable: step.rules.restartable) }
        guard TimerMachine.allows(command, in: state, restartable: step.rules.restartable, isWatchdog: false) else {
            throw .illegalTransition(command, state: state, restartable: step.rules.restartable)
        }
        var planned = step.progress.due
        if command == .reschedule { planned = try Self.rescheduled(step, target) }
        try condition.check(table[slot].progress.version)
        switch command {
        case .activate: activate(&step, &effects)
        case .suspend: suspend(&step, &effects)
        case .resume: resume(&step, &effects)
        case .cancel:
            step.end(.cancelled)
            step.emit(.cancelled, &effects)
        case .fire:
            step.fire(
                .manual, due: now.milliseconds(on: step.rules.clock), missed: 0,
                next: step.rules.schedule.period > 0 ? step.progress.due : nil, &effects)
        case .reschedule:
            step.progress.due = planned
            step.emit(.rescheduled, &effects)
        case .kick:
            break
        }
        commit(step)
    }

    private func activate(_ step: inout Step, _ effects: inout [Effect]) {
        start(&step, step.rules.schedule.firstDue(activatedAt: step.now, on: step.rules.clock), &effects)
        step.plan(step.progress.due, &effects)
    }

    private func suspend(_ step: inout Step, _ effects: inout [Effect]) {
        step.progress.state = .suspended
        if step.rules.effectiveResume == .remaining {
            step.progress.due = step.now.remaining(until: step.progress.due, on: step.rules.clock)
        }
        step.emit(.suspended, &effects)
    }

    private func resume(_ step: inout Step, _ effects: inout [Effect]) {
        let rules = step.rules
        step.progress.state = .running
        if rules.effectiveResume == .remaining {
            step.progress.due = Self.due(after: step.progress.due, rules, step.now)
            step.emit(.resumed, &effects)
            step.plan(step.progress.due, &effects)
            return
        }
        let due = step.progress.due
        let reached = min(step.now.milliseconds(on: rules.clock), rules.lastDue(step.now))
        guard due <= reached, !step.isSpent else {
            step.emit(.resumed, &effects)
            step.plan(due, &effects)
            return
        }
        let last = Self.lastGridPoint(rules, from: due, through: reached)
        let others = rules.schedule.period > 0 ? (last - due) / rules.schedule.period : 0
        let next = Self.following(rules, last, step.now)
        if rules.effectiveResume == .deadline {
            step.emit(.resumed, &effects)
            step.fire(.resumed, due: last, missed: others, next: next, &effects)
        } else {
            step.progress.missedCount += others + 1
            if let next { step.progress.due = next }
            step.emit(.resumed, &effects)
            step.plan(next, &effects)
        }
    }

    /// What `due` becomes when the next fire is moved to `target`.
    ///
    /// A grid that is laid into the past goes on from its latest point there, which is due at once: the points before
    /// were never due. `until` counts when the timer runs; past it a suspended one completes when it is resumed.
    private static func rescheduled(_ step: Step, _ target: RescheduleTarget?) throws(TimerRefusal) -> Int64 {
        guard let target else { preconditionFailure("a reschedule comes with its target") }
        let rules = step.rules
        let keepsRemaining = step.progress.state == .suspended && rules.effectiveResume == .remaining
        if keepsRemaining, case .after(let delay) = target { return delay * 1000 }
        let due =
            switch target {
            case .after(let delay): step.now.ceiling(on: rules.clock) + delay
            case .at(let wall): step.now.due(ofWall: wall, on: rules.clock)
            }
        if keepsRemaining { return step.now.remaining(until: due, on: rules.clock) }
        if step.progress.state == .running && step.isPast(due) {
            throw .invalidSchedule(pointer: "", reason: "the timer's `until` lies before that")
        }
        let reached = min(step.now.milliseconds(on: rules.clock), rules.lastDue(step.now))
        return lastGridPoint(rules, from: due, through: reached)
    }
}
