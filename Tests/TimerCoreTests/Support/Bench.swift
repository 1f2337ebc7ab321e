@testable import TimerCore

/// A scheduler on manual clocks. A call returns its effects as lines such as `fired due 1000 missed 2`;
/// instants in them are wall milliseconds after the bench's start.
final class Bench {
    /// The two clocks begin apart, so that taking one for the other shows.
    static let wallStart: Int64 = 1_800_000_000_000
    static let elapsedStart: Int64 = 5_000_000

    var scheduler: Scheduler
    var now = Now(elapsed: elapsedStart * 1_000_000, wallOffset: wallStart - elapsedStart)
    /// The effects of the last call.
    private(set) var effects: [Effect] = []

    init(maximumTimers: Int = .max, zones: any ZoneSource = UTCOnly()) {
        scheduler = Scheduler(secret: [UInt8](0..<16), maximumTimers: maximumTimers, zones: zones)
    }

    /// Makes the calendar begin at another instant, in wall milliseconds. Called before there are timers.
    func begin(at wall: Int64) { now.wallOffset = wall - Self.elapsedStart }

    /// The wall instant that many milliseconds after the start.
    static func wall(_ milliseconds: Int64) -> Int64 { wallStart + milliseconds }

    func key(_ id: String) -> TimerKey { TimerKey(id: Array(id.utf8).span, siphash: scheduler.siphash) }

    static func definition(
        _ id: String, _ rules: TimerRules, labels: [(String, String)] = [], webhook: [UInt8] = [],
        payload: String = ""
    ) -> [UInt8] {
        Definition.encode(
            id: Array(id.utf8).span, labels: encoded(labels).span, rules: rules, webhook: webhook.span,
            payload: Array(payload.utf8).span)
    }

    static func encoded(_ labels: [(String, String)]) -> [UInt8] {
        var bytes: [UInt8] = []
        for (key, value) in labels {
            Definition.appendLabel(key: Array(key.utf8).span, value: Array(value.utf8).span, to: &bytes)
        }
        return bytes
    }

    /// Returns the slot of a timer; refuses an unknown one as a request would be.
    func slot(_ id: String = "t") throws(TimerRefusal) -> SlotIndex {
        guard let slot = scheduler.find(key(id)) else { throw .notFound }
        return slot
    }

    func exists(_ id: String = "t") -> Bool { scheduler.find(key(id)) != nil }

    func progress(_ id: String = "t") throws(TimerRefusal) -> TimerProgress { scheduler.progress(try slot(id)) }

    func kicks(_ id: String = "t") throws(TimerRefusal) -> KickProgress { scheduler.kicks(try slot(id)) ?? .init() }

    func rules(_ id: String = "t") throws(TimerRefusal) -> TimerRules { scheduler.rules(try slot(id)) }

    /// The next due instant of a running timer, as wall milliseconds after the start.
    func due(_ id: String = "t") throws(TimerRefusal) -> Int64 {
        now.wall(of: try progress(id).due, on: try rules(id).clock) - Self.wallStart
    }

    /// Whole milliseconds until the planned waking; `Int64.max` when none is planned.
    var untilWake: Int64 {
        guard let wake = scheduler.nextWake(now) else { return .max }
        return (wake - now.elapsed) / 1_000_000
    }
}

// Requests of clients.
extension Bench {
    private func change(
        _ body: (inout Scheduler, inout [Effect]) throws(TimerRefusal) -> Void
    ) throws(TimerRefusal) -> [String] {
        effects = []
        try body(&scheduler, &effects)
        let lines = effects.map(Self.line)
        scheduler.finishStep()
        return lines
    }

    @discardableResult
    func create(
        _ rules: TimerRules, id: String = "t", labels: [(String, String)] = [], webhook: [UInt8] = [],
        payload: String = ""
    ) throws(TimerRefusal) -> [String] {
        let key = key(id)
        var definition = Self.definition(id, rules, labels: labels, webhook: webhook, payload: payload)
        return try change { (scheduler, effects) throws(TimerRefusal) in
            _ = try scheduler.create(key, definition: &definition, now, &effects)
        }
    }

    @discardableResult
    func replace(
        _ rules: TimerRules, id: String = "t", labels: [(String, String)] = [],
        if condition: VersionCondition = .none
    ) throws(TimerRefusal) -> [String] {
        let slot = try slot(id)
        var definition = Self.definition(id, rules, labels: labels)
        return try change { (scheduler, effects) throws(TimerRefusal) in
            try scheduler.replace(slot, definition: &definition, now, if: condition, &effects)
        }
    }

    /// Returns the lines of the effects, none where nothing changed.
    @discardableResult
    func amend(
        id: String = "t", labels: [(String, String)] = [], webhook: [UInt8] = [],
        if condition: VersionCondition = .none, _ edit: (inout TimerRules) -> Void
    ) throws(TimerRefusal) -> [String] {
        let slot = try slot(id)
        var rules = scheduler.rules(slot)
        edit(&rules)
        var definition = Self.definition(id, rules, labels: labels, webhook: webhook)
        return try change { (scheduler, effects) throws(TimerRefusal) in
            _ = try scheduler.amend(slot, definition: &definition, now, if: condition, &effects)
        }
    }

    /// Returns the lines of the effects, none where nothing changed.
    @discardableResult
    func declare(
        _ rules: TimerRules, id: String = "t", labels: [(String, String)] = [], webhook: [UInt8] = [],
        payload: String = ""
    ) throws(TimerRefusal) -> [String] {
        let slot = try slot(id)
        var definition = Self.definition(id, rules, labels: labels, webhook: webhook, payload: payload)
        try scheduler.checkDeclaration(slot, definition.span, now)
        return try change { (scheduler, effects) throws(TimerRefusal) in
            let changes = try scheduler.declare(slot, definition: &definition, now, &effects)
            precondition(changes != effects.isEmpty, "a declaration that changes something has effects")
        }
    }

    @discardableResult
    func apply(
        _ command: TimerCommand, id: String = "t", _ target: RescheduleTarget? = nil,
        if condition: VersionCondition = .none
    ) throws(TimerRefusal) -> [String] {
        let slot = try slot(id)
        return try change { (scheduler, effects) throws(TimerRefusal) in
            try scheduler.apply(command, slot, target: target, now, if: condition, &effects)
        }
    }

    @discardableResult
    func delete(id: String = "t", if condition: VersionCondition = .none) throws(TimerRefusal) -> [String] {
        let slot = try slot(id)
        return try change { (scheduler, effects) throws(TimerRefusal) in
            try scheduler.delete(slot, now, if: condition, &effects)
        }
    }
}

// The passing of time.
extension Bench {
    /// Passes milliseconds in which the fire loop does not run.
    func pass(_ milliseconds: Int64, nanoseconds: Int64 = 0) { now.elapsed += milliseconds * 1_000_000 + nanoseconds }

    /// Passes milliseconds and fires the due timers.
    @discardableResult
    func advance(_ milliseconds: Int64 = 0, nanoseconds: Int64 = 0, limit: Int = 512) -> [String] {
        pass(milliseconds, nanoseconds: nanoseconds)
        var all: [Effect] = []
        var done = false
        while !done {
            effects = []
            done = scheduler.advance(to: now, limit: limit, &effects)
            scheduler.finishStep()
            all += effects
        }
        effects = all
        return all.map(Self.line)
    }

    /// Stalls the fire loop for that long, then runs it.
    @discardableResult
    func stall(_ milliseconds: Int64) -> [String] {
        pass(milliseconds)
        scheduler.noteLoopStall(until: now)
        return advance()
    }

    /// Passes milliseconds in which the server is down.
    func down(_ milliseconds: Int64) {
        pass(milliseconds)
        now.downtime += milliseconds
    }

    /// Sets the calendar forward, or back.
    func stepWall(_ milliseconds: Int64) {
        now.wallOffset += milliseconds
        if milliseconds < 0 { scheduler.rebuildWallWheel(now) } else { scheduler.noteWallStep(to: now) }
    }

    /// Stops the service and starts it again: a new scheduler from what the old one held.
    func restart(_ ids: [String] = ["t"]) {
        var fresh = Scheduler(
            secret: [UInt8](0..<16), maximumTimers: scheduler.maximumTimers, zones: scheduler.zones)
        fresh.foldVersionFloor(scheduler.versionFloor)
        for calendar in scheduler.calendars.all { fresh.set(calendar) }
        for id in ids {
            guard let slot = scheduler.find(key(id)) else { continue }
            let progress = scheduler.progress(slot)
            let kicks = scheduler.kicks(slot)
            scheduler.withDefinition(slot) { definition in
                _ = fresh.fold(
                    definition: definition, isWhole: true, progress: progress, kicks: kicks, position: 1, lastEvent: 1)
            }
        }
        fresh.armAll(now)
        scheduler = fresh
    }

    static func line(_ effect: Effect) -> String {
        guard let fire = effect.fire else {
            guard let type = effect.type else { return "untold" }
            return type == .deleted ? "deleted \(effect.reason.name)" : "\(type.name)"
        }
        let missed = fire.missed == 0 ? "" : " missed \(fire.missed)"
        return "fired \(effect.reason.name) \(fire.scheduledAt - wallStart)\(missed)"
    }
}

/// Rules with defaults but for what `edit` changes.
func rules(_ schedule: Schedule, _ edit: (inout TimerRules) -> Void = { _ in }) -> TimerRules {
    var rules = TimerRules(schedule)
    edit(&rules)
    return rules
}
