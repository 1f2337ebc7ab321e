@testable import TimerCore

/// The timers that the server must hold by the contract, each computed by itself. A copy is the state at one moment.
struct Model {
    var timers: [String: ModelTimer] = [:]
    /// The opening hours of each calendar.
    var calendars: [CalendarName: ModelHours] = [:]
    /// The greatest version of any deleted timer.
    var versionFloor: Int64 = 0
    /// The newest version of each id, also of deleted ones.
    var versions: [String: Int64] = [:]
    /// The number of timers that had each id so far.
    var lives: [String: Int] = [:]
    /// The number of changes of the labels under each id so far.
    var labellings: [String: Int] = [:]
    /// Events that webhooks are owed, and dead letters, by position.
    var deliveries: [Int64: ModelDelivery] = [:]
    /// Dead letters that were dropped, which a log may still hold.
    var evicted: [Int64: ModelDelivery] = [:]
    /// Deliveries whose attempt began before the log was folded again, so that its result may count or not.
    var lateResults: Set<Int64> = []
    /// Deliveries that died since the last comparison with the server's.
    var buried: Set<Int64> = []
    /// Answered idempotency keys, with the instant of the answer and whether it may be forgotten by now.
    var answered: [UInt64: (at: Int64, mayBeGone: Bool)] = [:]

    /// The milliseconds for which an answer is kept.
    static let keyLifetime: Int64 = 86_400_000

    mutating func take(_ step: ModelStep) throws(BrokenPromise) {
        let timer = step.timer
        let id = timer.id
        guard !step.events.isEmpty else { return }
        try promise(
            versions[id].map { $0 < timer.progress.version } ?? true, "a version of \(id) repeats: \(timer.progress)")
        versions[id] = timer.progress.version
        if step.events.first?.type == .created { lives[id, default: 0] += 1 }
        if timers[id].map({ $0.prefix != timer.prefix }) ?? true { labellings[id, default: 0] += 1 }
        if timer.webhook == nil || step.events.last?.type == .deleted { dropPending(of: id) }
        if step.events.last?.type == .deleted {
            timers[id] = nil
            versionFloor = max(versionFloor, timer.progress.version)
        } else {
            timers[id] = timer
            timers[id]?.recordedDue = timer.progress.due
            try checkGrid(timer)
        }
    }

    /// Checks that every instant of a fixed grid fired or was counted as missed.
    private func checkGrid(_ timer: ModelTimer) throws(BrokenPromise) {
        guard let period = timer.period ?? timer.namedPeriod, timer.rules.mode == .fixedRate, timer.progress.isPlanned,
            timer.gridFires + timer.gridMissed > 0, timer.namedPeriod.map({ timer.gridStart % $0 == 0 }) ?? true
        else { return }
        let instants = timer.counted(from: timer.gridStart, to: timer.progress.due) / period
        try promise(
            instants == timer.gridFires + timer.gridMissed,
            "\(timer.id): of \(instants) instants \(timer.gridFires) fired and \(timer.gridMissed) were missed")
    }

    /// Marks the keys that may be forgotten, as the calendar or a later answer shows their time to be over.
    mutating func ageKeys(_ now: Now) {
        let newest = answered.values.reduce(now.wall) { max($0, $1.at) }
        for (key, answer) in answered where newest - answer.at > Self.keyLifetime { answered[key]?.mayBeGone = true }
    }

    /// Drops the state that was in memory only, as a new process or a new fold does.
    ///
    /// - Parameter underWay: deliveries whose attempts the process goes on with.
    mutating func forgetMemory(uptime: Int64, underWay: Set<Int64> = [], _ now: Now) {
        foldDeliveries(underWay: underWay, now)
        for (id, timer) in timers {
            let progress = timer.progress
            let due = now.wall(of: progress.due, on: timer.rules.clock)
            // The record of a timer that is still to be planned again says nothing about where a change moved it.
            if !timer.waitsForReplan {
                timers[id]?.isDueAtOnce = due < progress.updatedAt && progress.updatedAt != progress.lastFiredAt
            }
            timers[id]?.watchedFrom = uptime
            timers[id]?.hiccups += 1
        }
    }

    /// Whether a fire is planned on the suspending clock.
    var countsUptime: Bool { timers.values.contains { $0.progress.isPlanned && $0.rules.clock == .suspending } }

    /// Notes that the server may have been stalled.
    mutating func noteHiccup() { for id in timers.keys { timers[id]?.hiccups += 1 } }
}

/// Requests that make, replace, change or delete a timer.
extension Model {
    func create(_ id: String, _ definition: [UInt8], _ now: Now, uptime: Int64) -> (ModelStep?, ModelOutcome) {
        let (fresh, first) = made(id, definition, now)
        guard var fresh, let first else { return (nil, .refused(.schedule)) }
        if timers[id] != nil { return (nil, .refused(.exists)) }
        fresh.progress.version = versionFloor
        var step = ModelStep(fresh, now, uptime: uptime)
        step.record(.created)
        if step.rules.start == .now { step.start(first) }
        return (step, .done(step.events))
    }

    private func made(_ id: String, _ definition: [UInt8], _ now: Now) -> (ModelTimer?, first: Int64?) {
        guard let rules = Definition.layout(definition.span)?.rules else { return (nil, nil) }
        var timer = ModelTimer(id: id, definition: definition, rules: rules, progress: TimerProgress())
        Definition.setCreatedAt(now.wall, in: &timer.definition)
        timer.takeHours(calendars)
        if timer.isWatchdog { timer.kicks = KickProgress() }
        return (timer, timer.first(now))
    }

    /// - Parameter kept: the state in which the timer stays; nil for the one that `start` says.
    func put(
        _ id: String, _ definition: [UInt8], _ now: Now, uptime: Int64, if condition: VersionCondition,
        keeping kept: TimerState? = nil
    ) -> (ModelStep?, ModelOutcome) {
        let (fresh, first) = made(id, definition, now)
        guard var fresh, let first else { return (nil, .refused(.schedule)) }
        guard let old = timers[id] else {
            if condition != .none { return (nil, .refused(.version)) }
            return create(id, definition, now, uptime: uptime)
        }
        guard condition.holds(old.progress.version) else { return (nil, .refused(.version)) }
        fresh.keepCreation(of: old)
        fresh.progress = old.progress
        fresh.progress.state = .idle
        fresh.progress.flags = []
        fresh.progress.due = 0
        if kept == .suspended {
            fresh.progress.state = .suspended
            fresh.progress.firesSinceActivation = 0
            fresh.progress.due = ModelStep.keepsRemaining(fresh.rules) ? fresh.remaining(until: first, now) : first
        }
        if let kicks = old.kicks, fresh.isWatchdog { fresh.kicks = kicks }
        fresh.beginSilence(now)
        var step = ModelStep(fresh, now, uptime: uptime)
        step.record(recoveryFrom: old.stall(now))
        step.record(.updated)
        if kept == .running || (kept == nil && step.rules.start == .now) {
            step.start(first)
            if old.progress.state == .running && old.progress.due == first { step.timer.isDueAtOnce = old.isDueAtOnce }
        }
        return (step, .done(step.events))
    }

    func patch(
        _ id: String, _ definition: [UInt8], _ now: Now, uptime: Int64, if condition: VersionCondition
    ) -> (ModelStep?, ModelOutcome) {
        guard let old = timers[id], let rules = Definition.layout(definition.span)?.rules else {
            return (nil, .refused(.notFound))
        }
        var fresh = ModelTimer(id: id, definition: definition, rules: rules, progress: old.progress)
        fresh.keepCreation(of: old)
        fresh.takeHours(calendars)
        var step = ModelStep(old, now, uptime: uptime)
        if !fresh.isWatchdog { step.timer.kicks = nil }
        if fresh.isWatchdog && step.timer.kicks == nil { step.timer.kicks = KickProgress() }
        let refusal = step.amend(fresh.definition, rules, fresh.hours, endingStall: old.stall(now))
        if let refusal { return (nil, .refused(refusal)) }
        guard condition.holds(old.progress.version) else { return (nil, .refused(.version)) }
        if fresh.definition == old.definition { return (nil, .done([])) }
        return (step, .done(step.events))
    }

    /// Makes the timer, or changes what differs from it.
    func declare(
        _ id: String, _ definition: [UInt8], _ now: Now, uptime: Int64, if condition: VersionCondition
    ) -> (ModelStep?, ModelOutcome) {
        guard let old = timers[id] else {
            return condition == .none ? create(id, definition, now, uptime: uptime) : (nil, .refused(.version))
        }
        guard condition.holds(old.progress.version) else { return (nil, .refused(.version)) }
        guard let rules = Definition.layout(definition.span)?.rules else { return (nil, .refused(.notFound)) }
        var fresh = old
        fresh.definition = definition
        fresh.keepCreation(of: old)
        if fresh.definition == old.definition { return (nil, .done([])) }
        let (state, before) = (old.progress.state, old.rules)
        guard rules.schedule.kind != before.schedule.kind || (rules.replans(before) && state.hasEnded) else {
            return patch(id, definition, now, uptime: uptime, if: condition)
        }
        return put(
            id, definition, now, uptime: uptime, if: condition, keeping: state.hasEnded ? nil : state)
    }

    func delete(_ id: String, _ now: Now, uptime: Int64, if condition: VersionCondition) -> (ModelStep?, ModelOutcome) {
        guard let old = timers[id] else { return (nil, .refused(.notFound)) }
        guard condition.holds(old.progress.version) else { return (nil, .refused(.version)) }
        var step = ModelStep(old, now, uptime: uptime)
        step.record(.deleted, reason: .request)
        return (step, .done(step.events))
    }

    func apply(
        _ command: TimerCommand, _ id: String, _ target: RescheduleTarget?, _ now: Now, uptime: Int64,
        if condition: VersionCondition
    ) -> (ModelStep?, ModelOutcome) {
        guard let old = timers[id] else { return (nil, .refused(.notFound)) }
        var step = ModelStep(old, now, uptime: uptime)
        if let refusal = step.apply(command, target) { return (nil, .refused(refusal)) }
        guard condition.holds(old.progress.version) else { return (nil, .refused(.version)) }
        return (step, .done(step.events))
    }
}

extension ModelTimer {
    mutating func keepCreation(of other: ModelTimer) {
        Definition.setCreatedAt(Definition.layout(other.definition.span)?.createdAt ?? 0, in: &definition)
    }
}

extension TimerRules {
    /// Whether a change of `other` into these rules begins the full period again.
    ///
    /// - Parameter besideCalendar: whether the calendar may differ.
    func replans(_ other: TimerRules, besideCalendar: Bool = false) -> Bool {
        schedule != other.schedule || clock != other.clock || mode != other.mode || misses != other.misses
            || !besideCalendar && calendar != other.calendar
    }
}

extension VersionCondition {
    func holds(_ version: Int64) -> Bool {
        switch self {
        case .none, .exists: true
        case .oneOf(let versions): versions.contains(version)
        }
    }
}
