import TimerCore

/// The key of the timer `id`, in a log with the secret `secret`.
func key(_ id: String, secret: [UInt8] = []) -> TimerKey {
    TimerKey(id: Array(id.utf8).span, siphash: SipHash(secret: secret))
}

/// An encoded definition.
func definition(
    _ id: String, _ rules: TimerRules = TimerRules(.after(1000)), labels: [(String, String)] = [],
    webhook: [UInt8] = [], payload: [UInt8] = []
) -> [UInt8] {
    var run: [UInt8] = []
    for (key, value) in labels {
        Definition.appendLabel(key: Array(key.utf8).span, value: Array(value.utf8).span, to: &run)
    }
    return Definition.encode(
        id: Array(id.utf8).span, labels: run.span, rules: rules, webhook: webhook.span, payload: payload.span)
}

extension TimerRules {
    /// Rules of any shape whose timers fire within seconds.
    static func random(_ generator: inout SeededGenerator, wall: Int64) -> TimerRules {
        let near = Int64.random(in: 0...5000, using: &generator)
        let period = Int64.random(in: 1...3000, using: &generator)
        let schedules: [Schedule] = [
            .after(near), .at(wall + near), .every(period, first: .period), .every(period, first: .after(near)),
            .every(period, first: .at(wall - near)), .watchdog(period),
        ]
        var rules = TimerRules(schedules.randomElement(using: &generator) ?? .after(near))
        if !rules.schedule.isCalendar { rules.clock = TimerClock.allCases.randomElement(using: &generator) ?? .wall }
        rules.mode = RepeatMode.allCases.randomElement(using: &generator) ?? .fixedRate
        rules.start = generator.chance(oneIn: 4) ? .manual : .now
        if rules.schedule.kind == .watchdog {
            rules.misses = Int64.random(in: 1...3, using: &generator)
            rules.repeatAlarm = generator.chance(oneIn: 2)
        } else {
            rules.onResume = ResumePolicy.allCases.randomElement(using: &generator) ?? .remaining
            rules.misfire = MisfirePolicy.allCases.randomElement(using: &generator) ?? .once
            if generator.chance(oneIn: 4) { rules.misfireGrace = near }
        }
        if generator.chance(oneIn: 4) { rules.leeway = Int64.random(in: 0...500, using: &generator) }
        if generator.chance(oneIn: 4) { rules.jitter = Int64.random(in: 0...500, using: &generator) }
        rules.restartable = generator.chance(oneIn: 2)
        if generator.chance(oneIn: 3) { rules.maxFires = Int64.random(in: 1...4, using: &generator) }
        if generator.chance(oneIn: 5) { rules.until = wall + 60_000 }
        if generator.chance(oneIn: 3) { rules.retain = Int64.random(in: 0...4000, using: &generator) }
        return rules
    }
}

extension TimerProgress {
    /// Any progress, with numbers of every size; instants stay where their differences are in range.
    static func random(_ generator: inout SeededGenerator) -> TimerProgress {
        var progress = TimerProgress()
        progress.state = TimerState.allCases.randomElement(using: &generator) ?? .idle
        progress.flags = TimerProgress.Flags(rawValue: UInt8.random(in: 0...15, using: &generator))
        progress.version = generator.number()
        progress.updatedAt = generator.number() / 4
        progress.due = generator.number()
        progress.lastFiredAt = generator.chance(oneIn: 3) ? 0 : generator.number() / 4
        progress.fireCount = generator.number()
        progress.missedCount = generator.number()
        progress.firesSinceActivation = generator.number()
        return progress
    }
}

extension KickProgress {
    /// Any progress of a watchdog; instants stay where their differences are in range.
    static func random(_ generator: inout SeededGenerator) -> KickProgress {
        var kicks = KickProgress()
        kicks.lastKickedAt = generator.chance(oneIn: 3) ? 0 : generator.number() / 4
        kicks.kickCount = generator.number()
        kicks.stalledSince = generator.chance(oneIn: 3) ? 0 : generator.number() / 4
        return kicks
    }
}

extension SeededGenerator {
    /// A number of either sign; small and large ones are as likely.
    mutating func number() -> Int64 {
        let magnitude = Int64(bitPattern: next()) >> Int64.random(in: 0...63, using: &self)
        return chance(oneIn: 8) ? [0, 1, -1, .max, .min].randomElement(using: &self) ?? 0 : magnitude
    }

    /// `count` random bytes.
    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) } }
}

/// A timer as a scheduler holds it.
struct TimerCopy: Equatable {
    var progress: TimerProgress
    var kicks: KickProgress?
    var definition: [UInt8]
    var lastEvent: Int64
    var base: Int64
    /// Its deliveries that are pending.
    var pending: [Int64]
    /// Position of its newest record but for kicks.
    var lastRecord: Int64 { max(lastEvent, base) }
}

/// A delivery as the log has to tell it: an attempt under way is told by nothing.
struct DeliveryCopy: Equatable {
    var hash: UInt32
    var belongs: Bool
    var state: DeliveryState
    var attempts: Int
    var body: Int64
    var lastAttempt: LastAttempt?
    var will: DeliveryWill?
    var reason: EventReason
    /// Not compared: see above.
    var isUnderWay: Bool

    init(_ standing: DeliveryStanding, hash: UInt32) {
        isUnderWay = standing.state == .inFlight
        self.hash = hash
        belongs = standing.slot != nil
        // One whose wait is over counts as waiting: only clocks tell them apart.
        attempts = standing.attempts - (isUnderWay ? 1 : 0)
        state = standing.state == .dead ? .dead : attempts > 0 ? .waiting : .pending
        body = standing.body
        lastAttempt = standing.lastAttempt
        will = standing.will
        reason = standing.reason
    }

    static func == (left: DeliveryCopy, right: DeliveryCopy) -> Bool {
        (left.hash, left.belongs, left.state, left.attempts, left.body)
            == (right.hash, right.belongs, right.state, right.attempts, right.body)
            && left.reason == right.reason && left.lastAttempt == right.lastAttempt && left.will == right.will
    }
}

/// Everything a scheduler holds that a log must bring back.
struct SchedulerCopy: Equatable {
    var timers: [String: TimerCopy] = [:]
    var deliveries: [Int64: DeliveryCopy] = [:]
    var versionFloor: Int64

    init(_ scheduler: borrowing Scheduler) {
        versionFloor = scheduler.versionFloor
        var slots: [SlotIndex] = []
        scheduler.walk(after: nil, over: .all) { _, slot in
            slots.append(slot)
            return true
        }
        for slot in slots {
            let definition = scheduler.withDefinition(slot) { bytes in bytes.indices.map { bytes[$0] } }
            var id: [UInt8] = []
            Definition.appendID(definition.span, to: &id)
            timers[String(decoding: id, as: UTF8.self)] = TimerCopy(
                progress: scheduler.progress(slot), kicks: scheduler.kicks(slot), definition: definition,
                lastEvent: scheduler.lastEvent(slot),
                base: scheduler.base(slot), pending: scheduler.pendingDeliveries(of: slot).sorted())
        }
        let now = Now(elapsed: 0, wallOffset: 0)
        for dead in [false, true] {
            scheduler.walkDeliveries(after: .min, dead: dead, now) { hash, standing in
                deliveries[standing.id] = DeliveryCopy(standing, hash: hash)
                return true
            }
        }
    }

    /// What is not as in `other`, in words.
    func differences(from other: SchedulerCopy) -> [String] {
        var differences = versionFloor == other.versionFloor ? [] : ["floor \(versionFloor), not \(other.versionFloor)"]
        for id in Set(timers.keys).union(other.timers.keys).sorted() where timers[id] != other.timers[id] {
            differences.append("\(id): \(Self.words(timers[id], other.timers[id]))")
        }
        for id in Set(deliveries.keys).union(other.deliveries.keys).sorted()
        where deliveries[id] != other.deliveries[id] {
            differences.append("delivery \(id): \(Self.words(deliveries[id], other.deliveries[id]))")
        }
        return differences
    }

    /// The members in which two values differ.
    private static func words<Value>(_ value: Value?, _ other: Value?) -> String {
        guard let value, let other else { return value == nil ? "missing" : "too many" }
        return zip(Mirror(reflecting: value).children, Mirror(reflecting: other).children)
            .filter { "\($0.value)" != "\($1.value)" }
            .map { "\($0.label ?? "") \($0.value), not \($1.value)" }.joined(separator: "; ")
    }

    /// A timer by its id.
    subscript(_ id: String) -> TimerCopy? { timers[id] }
}
