import Webhooks

@testable import TimerCore

/// The effects of commands on a timer. A command returns the reason of its refusal, with nothing changed, or nil.
extension ModelStep {
    /// The contract's table, written again.
    private func isLegal(_ command: TimerCommand) -> Bool {
        let state = timer.progress.state
        switch command {
        case .activate: return state == .idle || state.hasEnded && rules.restartable
        case .suspend, .fire: return state == .running
        case .resume: return state == .suspended
        case .cancel, .reschedule: return state == .running || state == .suspended
        case .kick: return timer.isWatchdog && (state == .running || state == .suspended)
        }
    }

    /// Applies the command that a receiver names; a `reschedule` also activates a completed timer that is restartable.
    mutating func obey(_ command: TimerCommandHeader) -> ModelOutcome.Refusal? {
        switch command {
        case .cancel: return apply(.cancel, nil)
        case .suspend: return apply(.suspend, nil)
        case .reschedule(let delay, let inDays):
            if inDays, rules.clock == .working { return .schedule }
            guard timer.progress.state == .completed, rules.restartable else {
                return apply(.reschedule, .after(delay, inDays: inDays))
            }
            let due = timer.instant(afterDuration: delay, from: now.up(rules.clock)) ?? Grid.never
            if timer.isPast(due, now) { return .schedule }
            start(due, isMoved: true)
            return nil
        }
    }

    mutating func apply(_ command: TimerCommand, _ target: RescheduleTarget?) -> ModelOutcome.Refusal? {
        guard isLegal(command) else { return .illegal }
        switch command {
        case .activate:
            let due = activationDue
            start(due ?? 0)
            goOn(due)
        case .suspend: suspend()
        case .resume: resume()
        case .cancel: end(.cancelled, .cancelled)
        case .kick: kick()
        case .fire:
            let goesOn = rules.schedule.kind != .oneShot && timer.progress.isPlanned
            fire(.manual, now.down(rules.clock), missed: 0, next: goesOn ? timer.progress.due : nil)
        case .reschedule:
            guard let target else { return nil }
            return reschedule(target)
        }
        return nil
    }

    /// The first due instant of an activation, `until` aside: past it the timer completes.
    private var activationDue: Int64? {
        var free = timer
        free.rules.until = nil
        return free.first(now)
    }

    private mutating func suspend() {
        timer.progress.state = .suspended
        timer.progress.flags.remove(.unplanned)
        if timer.isWatchdog {
            timer.progress.due = min(rules.silence, 36_525 * 86_400_000) * 1000
        } else if rules.onResume == .remaining && rules.clock != .wall {
            timer.progress.due = timer.remaining(until: timer.progress.due, now)
        }
        record(.suspended)
    }

    /// Whether a pause keeps the time left rather than the instant.
    static func keepsRemaining(_ rules: TimerRules) -> Bool {
        rules.schedule.kind == .watchdog || rules.onResume == .remaining && rules.clock != .wall
    }

    private mutating func resume() {
        timer.progress.state = .running
        if Self.keepsRemaining(rules) {
            let due = timer.due(after: timer.progress.due, now)
            let stall = timer.stall(now)
            if timer.isWatchdog { timer.forgetPlan(now) }
            if let due { plan(due) }
            record(recoveryFrom: stall)
            record(.resumed)
            return goOn(due)
        }
        let due = timer.progress.due
        var reached = now.down(rules.clock)
        if let until = rules.until { reached = min(reached, now.due(ofWall: until, on: rules.clock)) }
        notePlanned(byCommand: true)
        guard due <= reached, !timer.isSpent else {
            record(.resumed)
            return goOn(due)
        }
        let last = timer.latest(from: due, through: reached)
        let next = timer.following(last.due, now)
        if rules.onResume == .skip {
            timer.progress.missedCount += last.before + 1
            timer.gridMissed += last.before + 1
            if let next { timer.progress.due = next }
            timer.isDueAtOnce = timer.progress.due < now.up(rules.clock)
            record(.resumed)
            return goOn(next)
        }
        record(.resumed)
        fire(.resumed, last.due, missed: last.before, next: next)
        timer.isDueAtOnce = timer.progress.due < now.up(rules.clock)
    }

    private mutating func kick() {
        if timer.progress.state == .suspended { return }
        let stall = timer.stall(now)
        timer.forgetPlan(now)
        timer.kicks?.silentSince = now.wall
        timer.kicks?.kickCount += 1
        plan(now.up(rules.clock) + rules.silence)
        if stall == nil { record(nil) } else { record(recoveryFrom: stall) }
    }

    private mutating func reschedule(_ target: RescheduleTarget) -> ModelOutcome.Refusal? {
        let isHeld = timer.progress.state == .suspended && Self.keepsRemaining(rules)
        var due: Int64
        switch target {
        case .after(let delay, _):
            due = timer.instant(afterDuration: delay, from: now.up(rules.clock)) ?? Grid.never
        case .at(let wall):
            let instant = now.due(ofWall: wall, on: rules.clock)
            due = rules.clock == .working ? timer.opening(instant) : instant
        }
        if isHeld {
            if case .after(let delay, _) = target {
                due = delay * 1000
            } else {
                due = timer.remaining(until: due, now)
            }
        } else {
            if timer.progress.state == .running && timer.isPast(due, now) { return .schedule }
            var reached = now.down(rules.clock)
            if let until = rules.until { reached = min(reached, now.due(ofWall: until, on: rules.clock)) }
            if timer.namedPeriod == nil { due = timer.latest(from: due, through: reached).due }
        }
        // The suspending clock may be where it was when the timer was last due, as it rests while no timer counts
        // on it.
        let isNew = timer.progress.due != due || !timer.progress.isPlanned
        timer.progress.flags.remove(.unplanned)
        timer.progress.flags.insert(.moved)
        if isNew { plan(due) }
        // A client may ask for the same instant again.
        timer.lastDue = nil
        record(.rescheduled)
        return nil
    }

    /// Replaces the rules and keeps the state. Returns nil unless it is refused.
    ///
    /// - Parameter stall: that of the timer as it was.
    mutating func amend(
        _ definition: [UInt8], _ rules: TimerRules, _ hours: ModelHours?, endingStall stall: ModelStall?
    ) -> ModelOutcome.Refusal? {
        let (before, old) = (timer, timer.rules)
        let state = timer.progress.state
        let replans = rules.replans(old)
        let url = timer.webhook?.url
        timer.rules = rules
        timer.hours = hours
        timer.definition = definition
        if timer.webhook?.url != url { timer.progress.flags.remove(.webhookStopped) }
        let first = timer.first(now)
        if replans {
            guard let first else { return .schedule }
            if state.hasEnded { return .illegal }
            if rules.clock == .working, !rules.replans(old, besideCalendar: true) {
                countOn(before)
            } else {
                retime(first)
            }
        } else {
            // A watchdog is watched up to `until`, which need only lie ahead.
            let needed = timer.isWatchdog ? now.up(rules.clock) : timer.progress.due
            if state == .running && rules.until != old.until && timer.isPast(needed, now) { return .schedule }
            keepTime(old)
        }
        if replans { record(recoveryFrom: stall) }
        record(replans && state != .idle ? .rescheduled : .updated)
        if timer.progress.state == .running && timer.isSpent { end(.completed, .completed) }
        return nil
    }

    private mutating func retime(_ first: Int64) {
        timer.forgetPlan(now)
        switch timer.progress.state {
        case .running: plan(first)
        case .suspended:
            timer.progress.due = Self.keepsRemaining(rules) ? timer.remaining(until: first, now) : first
        case .idle, .cancelled, .completed: break
        }
    }

    /// Counts what is left of working time by another calendar.
    private mutating func countOn(_ before: ModelTimer) {
        timer.forgetPlan(now)
        let state = timer.progress.state
        guard state == .running || state == .suspended && !Self.keepsRemaining(rules) else { return }
        let left = before.remaining(until: before.progress.due, now)
        let due = left > 0 ? timer.due(after: left, now) ?? Grid.never : before.progress.due
        if state == .suspended { return timer.progress.due = due }
        plan(due)
        // An instant that had come is due as it was.
        if due == before.progress.due { timer.isDueAtOnce = before.isDueAtOnce }
    }

    private mutating func keepTime(_ old: TimerRules) {
        let (kept, keeps) = (Self.keepsRemaining(old), Self.keepsRemaining(rules))
        if timer.progress.state == .suspended && rules.effectiveResume != old.effectiveResume {
            if keeps {
                timer.progress.due = timer.remaining(until: timer.progress.due, now)
            } else if kept {
                timer.progress.due = timer.due(after: timer.progress.due, now) ?? Grid.never
            }
        } else if timer.progress.state.hasEnded {
            timer.progress.due += rules.retain - old.retain
        } else if rules.repeatAlarm != old.repeatAlarm, timer.progress.state == .running,
            timer.progress.flags.contains(.stalled), let since = timer.kicks?.stalledSince
        {
            guard let period = timer.period else {
                timer.progress.flags.insert(.unplanned)
                return
            }
            // The first alarm covers those of the grid so far.
            timer.progress.flags.remove(.unplanned)
            let end = now.down(rules.clock)
            timer.progress.due = since + (end > since ? (end - since) / period + 1 : 1) * period
            notePlanned(byCommand: true)
        }
    }
}
