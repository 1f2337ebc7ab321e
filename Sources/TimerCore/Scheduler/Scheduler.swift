/// Every timer and what is due when: the functional core of the service.
///
/// Commands and the passing of time go in, each with the instant it happens at; effects come out, to be recorded by
/// the caller in their order. No clock, lock or I/O is inside, so the same code runs in the server, at recovery and
/// in tests. After each call that yields effects the caller stamps them with positions and calls `finishStep`.
public struct Scheduler: ~Copyable {
    var table: TimerTable
    /// Of every timer that counts elapsed time; for the suspending clock its entries may be early, never late.
    var elapsedWheel = TimerWheel(position: 0)
    var wallWheel = TimerWheel(position: 0)
    /// Grows with each rebuild of the wall wheel: timers armed in another build are not in this one yet.
    var wallBuild: UInt8 = 0
    /// Slots from here on are still to be looked at for the rebuild; nil when there is none.
    var rebuildFrom: SlotIndex?
    var expired: [TimerWheel.Entry] = []
    var unlinked: [SlotIndex] = []
    /// The timer of the record folded last.
    var lastFolded: SlotIndex?
    /// Due instants up to here passed while the fire loop stood still.
    var misfireUntil = ClockReadings()
    /// Overdue timers that catch up with what they missed.
    var catchUp = CatchUpQueue()
    /// Events on their way to webhooks.
    var deliveries = DeliveryTable()
    /// Running timers that wait for a subscriber since the start, with the due instant they had then.
    var held: [SlotIndex: Int64] = [:]
    /// Timers that came from another server overdue: their due instants up to these, on their clocks, misfire.
    var late: [SlotIndex: Int64] = [:]
    /// Elapsed nanoseconds before which no further one catches up.
    var catchUpFrom: Int64 = .min
    /// The most that any timer's fires were planned after their due instants, in milliseconds.
    var widestSlack: Int64 = 0
    /// The timers armed last, for searches that go on after them.
    var recentArmings = RecentArmings()
    /// Cron schedules that were read already.
    let crons = CronCache()
    /// The newest deletions.
    var deleted = DeletedTimers()
    /// New timers start above this version, so that no version of an id ever repeats.
    public internal(set) var versionFloor: Int64 = 0
    /// Versions up to this one may have been given in changes that were lost: the next one of every timer lies above.
    public internal(set) var lostVersions: Int64 = 0
    /// Most timers there may be.
    public let maximumTimers: Int
    /// The time zones that schedules speak of.
    public let zones: any ZoneSource

    /// Makes an empty scheduler.
    ///
    /// - Parameters:
    ///   - secret: 16 bytes that key the order of lists.
    ///   - maximumTimers: further creates are refused.
    ///   - zones: the time zones that schedules speak of.
    public init(secret: [UInt8], maximumTimers: Int = .max, zones: any ZoneSource = UTCOnly()) {
        table = TimerTable(secret: secret)
        self.maximumTimers = maximumTimers
        self.zones = zones
    }

    // Has another module destroy a scheduler here. By itself it would go member by member, and Swift 6.3 optimises away
    // the deinit of what lies two levels down, in types it can't see: the wheels' pages would leak.
    deinit {}

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
    public func progress(_ slot: SlotIndex) -> TimerProgress { table.progress(slot) }

    /// What a watchdog has beside its progress; nil for other kinds.
    public func kicks(_ slot: SlotIndex) -> KickProgress? {
        withDefinition(slot, Definition.isWatchdog) ? table.kicks(slot) : nil
    }

    /// Top half of the hash of a timer's name.
    public func hash(_ slot: SlotIndex) -> UInt32 { table.hash(slot) }

    /// Where the timer is whose name has `hash` as the top half of its hash and whose definition stands at `base`.
    public func find(hash: UInt32, base: Int64) -> SlotIndex? { table.find(hash: hash, base: base) }

    /// Runs `body` on a timer's encoded definition.
    public func withDefinition<Result>(_ slot: SlotIndex, _ body: (Span<UInt8>) -> Result) -> Result {
        table[slot].definition.withSpan(body)
    }

    /// A timer's rules.
    public func rules(_ slot: SlotIndex) -> TimerRules { layout(slot).rules }

    /// Where the parts of a timer's definition lie.
    func layout(_ slot: SlotIndex) -> Definition.Layout {
        let crons = crons
        guard let layout = withDefinition(slot, { Definition.layout($0, crons: crons) }) else {
            preconditionFailure("the table holds only definitions that decode: they are checked on the way in")
        }
        return layout
    }

    /// Runs `body` on a timer's webhook, as its writer encoded it; nil where it has none.
    public func withWebhook<Result>(_ slot: SlotIndex, _ body: (Span<UInt8>) -> Result) -> Result? {
        guard let webhook = layout(slot).webhook else { return nil }
        return withDefinition(slot) { body($0.extracting(webhook)) }
    }

    /// The rules of a definition that a client sent.
    func rules(_ definition: Span<UInt8>) -> TimerRules {
        guard let rules = Definition.layout(definition, crons: crons)?.rules else {
            preconditionFailure("a definition is encoded by `Definition.encode`")
        }
        return rules
    }

    /// Position of the newest record about a timer: what shows it waits until that is durable.
    public func lastRecord(_ slot: SlotIndex) -> Int64 { table.lastRecord(slot) }

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

    /// Notes with which position the record of a watchdog's newest kick is durable.
    public mutating func stampKick(_ slot: SlotIndex, position: Int64) { table.stampKick(slot, position: position) }

    /// Frees what the step's deletions left readable for its effects.
    public mutating func finishStep() {
        for slot in unlinked { table.release(slot) }
        unlinked.removeAll(keepingCapacity: true)
    }

    /// Notes that the fire loop stood still until `now`: what was due by then misfires.
    public mutating func noteStall(until now: Now) {
        for clock in TimerClock.allCases { misfireUntil[clock] = now.milliseconds(on: clock) }
    }

    /// Notes that the calendar was stepped forward to `now`: what it jumped misfires.
    public mutating func noteWallStep(to now: Now) { misfireUntil[.wall] = now.milliseconds(on: .wall) }
}

extension Scheduler {
    /// Notes the position that the event of a timer's deletion was given. Before `finishStep`.
    public mutating func noteDeleted(_ slot: SlotIndex, at position: Int64) {
        deleted.note(table.order(of: slot), at: position)
    }

    /// Position of the newest event of a timer named `key` that was deleted; nil where none is remembered.
    public func lastEvent(ofDeleted key: borrowing TimerKey) -> Int64? { deleted.lastEvent(key.hash) }
}
