/// Every timer and what is due when: the functional core of the service.
///
/// Commands and the passing of time go in, each with the instant it happens at; effects come out, to be recorded by
/// the caller in their order. No clock, lock or I/O is inside, so the same code runs in the server, at recovery and
/// in tests. After each call that yields effects the caller stamps them with positions and calls `finishStep`.
public struct Scheduler: ~Copyable {
    var table: TimerTable
    var continuousWheel = TimerWheel(position: 0)
    var wallWheel = TimerWheel(position: 0)
    /// Grows with each rebuild of the wall wheel: timers armed in another build are not in this one yet.
    var wallBuild: UInt8 = 0
    /// Slots from here on are still to be looked at for the rebuild; nil when there is none.
    var rebuildFrom: SlotIndex?
    var expired: [TimerWheel.Entry] = []
    var unlinked: [SlotIndex] = []
    /// The timer of the record folded last.
    var lastFolded: SlotIndex?
    /// Due instants up to here passed while the fire loop stood still: by clock, in milliseconds.
    var misfireUntil: (continuous: Int64, wall: Int64) = (.min, .min)
    /// New timers start above this version, so that no version of an id ever repeats.
    public internal(set) var versionFloor: Int64 = 0
    /// Most timers there may be.
    public let maximumTimers: Int

    /// Makes an empty scheduler.
    ///
    /// - Parameters:
    ///   - secret: 16 bytes that key the order of lists.
    ///   - maximumTimers: further creates are refused.
    public init(secret: [UInt8], maximumTimers: Int = .max) {
        table = TimerTable(secret: secret)
        self.maximumTimers = maximumTimers
    }

    /// Hashes ids, for making keys outside of any lock.
    public var siphash: SipHash { table.siphash }

    /// How many timers there are.
    public var count: Int { table.count }

    /// How many timers are in `state`.
    public func count(in state: TimerState) -> Int { table.count(in: state) }

    /// Bytes of every definition held: what a log without garbage would hold, but for the records' heads.
    public var definitionBytes: Int { table.definitionBytes }

    /// Where the timer named `key` is, nil when there is none.
    public func find(_ key: borrowing TimerKey) -> SlotIndex? { table.find(key) }

    /// A timer's progress.
    public func progress(_ slot: SlotIndex) -> TimerProgress { table[slot].progress }

    /// Runs `body` on a timer's encoded definition.
    public func withDefinition<Result>(_ slot: SlotIndex, _ body: (Span<UInt8>) -> Result) -> Result {
        table[slot].definition.withSpan(body)
    }

    /// A timer's rules.
    public func rules(_ slot: SlotIndex) -> TimerRules {
        guard let layout = withDefinition(slot, Definition.layout) else {
            preconditionFailure("the table holds only definitions that decode: they are checked on the way in")
        }
        return layout.rules
    }

    /// Position of the newest record about a timer.
    public func lastRecord(_ slot: SlotIndex) -> Int64 { table[slot].lastRecord }

    /// Position of a timer's newest event.
    public func lastEvent(_ slot: SlotIndex) -> Int64 { table[slot].lastEvent }

    /// Position of the newest record that holds a timer's definition.
    public func base(_ slot: SlotIndex) -> Int64 { table[slot].base }

    /// Notes the position a record about a timer was given.
    ///
    /// - Parameters:
    ///   - isBase: the record holds the definition.
    ///   - isEvent: the record is an event, not a snapshot.
    /// - Returns: the position of the timer's event before, 0 for none.
    public mutating func stamp(_ slot: SlotIndex, position: Int64, isBase: Bool, isEvent: Bool) -> Int64 {
        table.stamp(slot, position: position, isBase: isBase, isEvent: isEvent)
    }

    /// Frees what the step's deletions left readable for its effects.
    public mutating func finishStep() {
        for slot in unlinked { table.release(slot) }
        unlinked.removeAll(keepingCapacity: true)
    }

    /// Notes that the fire loop stood still until `now`: what was due by then misfires.
    public mutating func noteStall(until now: Now) {
        misfireUntil = (now.milliseconds(on: .continuous), now.milliseconds(on: .wall))
    }

    /// Notes that the calendar was stepped forward to `now`: what it jumped misfires.
    public mutating func noteWallStep(to now: Now) { misfireUntil.wall = now.milliseconds(on: .wall) }

    /// An instant in elapsed nanoseconds not after the next due one, nil when nothing is planned.
    public func nextWake(_ now: Now) -> Int64? {
        if rebuildFrom != nil || continuousWheel.wantsSweep || wallWheel.wantsSweep { return now.elapsed }
        let continuous = continuousWheel.nextWake.map { Self.saturating($0) }
        let wall = wallWheel.nextWake.map { Self.saturating($0 - now.wallOffset) }
        guard let continuous, let wall else { return continuous ?? wall }
        return min(continuous, wall)
    }

    /// `milliseconds` as nanoseconds; far instants stop at the end of the range (the year 2262), where waking early
    /// is harmless.
    private static func saturating(_ milliseconds: Int64) -> Int64 {
        let (product, overflow) = milliseconds.multipliedReportingOverflow(by: nanosecondsPerMillisecond)
        return overflow ? (milliseconds < 0 ? 0 : .max) : max(0, product)
    }

    mutating func arm(_ slot: SlotIndex, on clock: TimerClock) {
        switch clock {
        case .continuous: continuousWheel.insert(table.arm(slot, .continuous))
        case .wall: wallWheel.insert(table.arm(slot, .wall, build: wallBuild))
        }
    }

    mutating func disarm(_ slot: SlotIndex) {
        switch table[slot].armed {
        case .no: return
        case .continuous: continuousWheel.cancel()
        case .wall where table[slot].wheelBuild == wallBuild: wallWheel.cancel()
        case .wall: break
        }
        table.disarm(slot)
    }
}

/// One step on one timer: what it changes, and the effects it yields, which share a version and an instant.
struct Step {
    let slot: SlotIndex
    let now: Now
    let rules: TimerRules
    var progress: TimerProgress

    /// Appends an event with the progress as it now is.
    func emit(
        _ type: EventType, reason: EventReason = .none, fire: FireDetail? = nil, _ effects: inout [Effect]
    ) {
        effects.append(
            Effect(type: type, reason: reason, at: now.wall, slot: slot, progress: progress, fire: fire))
    }

    /// Microseconds from the due instant `due` to now; negative before it.
    func microseconds(since due: Int64) -> Int64 {
        floorDivide(now.nanoseconds(on: rules.clock), 1000) - due * 1000
    }

    /// Whether no fire may be due at `due` any more.
    func isPast(_ due: Int64) -> Bool { due > rules.lastDue(now) }

    /// Ends the timer; from now on `due` is the instant it is forgotten at.
    mutating func end(_ state: TimerState) {
        progress.state = state
        progress.due = now.ceiling(on: .continuous) + rules.retain
    }

    /// Whether `maxFires` is reached.
    var isSpent: Bool { rules.maxFires.map { progress.firesSinceActivation >= $0 } ?? false }

    /// Counts a fire, plans the one after at `next` (nil: none) and emits both events: the fire, and the completion
    /// when nothing may follow. The fire's event already holds the plan, since the log keeps what it says.
    mutating func fire(
        _ reason: EventReason, due: Int64, missed: Int64, next: Int64?, _ effects: inout [Effect]
    ) {
        progress.fireCount += 1
        progress.firesSinceActivation += 1
        progress.missedCount += missed
        progress.lastFiredAt = now.wall
        if let next { progress.due = next }
        let detail = FireDetail(
            scheduledAt: now.wall(of: due, on: rules.clock), latenessUs: max(0, microseconds(since: due)),
            missed: missed)
        emit(.fired, reason: reason, fire: detail, &effects)
        plan(next, &effects)
    }

    /// Plans the next fire at `due`, or completes the timer when nothing may follow.
    mutating func plan(_ due: Int64?, _ effects: inout [Effect]) {
        guard let due, !isSpent, !isPast(due) else {
            end(.completed)
            emit(.completed, &effects)
            return
        }
        progress.due = due
    }
}
