import Primitives

/// Every timer and what is due when: the functional core of the service.
///
/// Commands and the passing of time go in, each with the instant it happens at; effects come out, to be recorded by
/// the caller in their order. No clock, lock or I/O is inside, so the same code runs in the server, at recovery and
/// in tests. After each call that yields effects the caller stamps them with positions and calls `finishStep`.
public struct Scheduler: ~Copyable {
    var table: TimerTable
    /// The wheel of every timer that counts elapsed time; entries of the suspending clock may be early, never late.
    var elapsedWheel = TimerWheel(position: 0)
    var wallWheel = TimerWheel(position: 0)
    /// The generation of the wall wheel, which changes with each rebuild: timers armed in another generation are not
    /// in this wheel yet.
    var wallBuild: UInt8 = 0
    /// The slot from which on slots are still to be looked at for the rebuild; nil when there is none.
    var rebuildFrom: SlotIndex?
    var expired: [TimerWheel.Entry] = []
    var unlinked: [SlotIndex] = []
    /// The timer of the record folded last.
    var lastFolded: SlotIndex?
    /// The instants up to which due instants passed while the fire loop was stalled.
    var misfireUntil = ClockReadings()
    /// The overdue timers that catch up with what they missed.
    var catchUp = CatchUpQueue()
    /// The deliveries of events to webhooks.
    var deliveries = DeliveryTable()
    /// Running timers that wait for a subscriber since the start, with the due instant they had then.
    var held: [SlotIndex: Int64] = [:]
    /// Timers that came from another server overdue, each with the instant on its clock up to which its due
    /// instants misfire.
    var late: [SlotIndex: Int64] = [:]
    /// The elapsed nanoseconds before which no further overdue timer catches up.
    var catchUpFrom: Int64 = .min
    /// The most milliseconds by which a timer's fire was planned after its due instant.
    var widestSlack: Int64 = 0
    /// The timers armed last, for searches that go on after them.
    var recentArmings = RecentArmings()
    /// The cron and recurrence schedules that were read already.
    let schedules: ScheduleCache
    /// The newest deletions.
    var deleted = DeletedTimers()
    /// The version above which new timers start, so that no version of an id ever repeats.
    public internal(set) var versionFloor: Int64 = 0
    /// The highest version of timers that were deleted on the servers that imports under way come from: timers that are made
    /// here start above it too, those that come keep their versions.
    public var arrivingFloor: Int64 = 0
    /// The version up to which versions may have been given in changes that were lost: the next one of every timer
    /// lies above it.
    public internal(set) var lostVersions: Int64 = 0
    /// The most timers there may be.
    public let maximumTimers: Int
    /// The calendars, and the time zones that schedules name.
    let book: CalendarBook
    /// The slot from which on timers are still to be looked at, as a calendar has changed; nil when there is none.
    var replanFrom: SlotIndex?

    /// Makes an empty scheduler.
    ///
    /// - Parameters:
    ///   - secret: 16 bytes that key the order of lists.
    ///   - maximumTimers: further creates are refused.
    ///   - zones: the time zones that schedules name.
    public init(secret: [UInt8], maximumTimers: Int = .max, zones: any ZoneSource = UTCOnly()) {
        table = TimerTable(secret: secret)
        self.maximumTimers = maximumTimers
        book = CalendarBook(zones)
        schedules = ScheduleCache(zones)
    }

    // An explicit deinit, so that another module destroys a scheduler by a call. Otherwise it would go member by
    // member, and Swift 6.3 optimises away the deinit of what lies two levels down, in types it can't see: the
    // wheels' pages would leak.
    deinit {}

    /// The time zones that schedules name.
    public var zones: any ZoneSource { book.zones }

    /// The hash of ids, for making keys outside of any lock.
    public var siphash: SipHash { table.siphash }

    /// The number of timers.
    public var count: Int { table.count }

    /// Returns how many timers are in `state`.
    public func count(in state: TimerState) -> Int { table.count(in: state) }

    /// The bytes of all definitions: what a log without garbage would hold, but for the records' heads.
    public var definitionBytes: Int { table.definitionBytes }

    /// Returns the slot of the timer named `key`; nil when there is none.
    public func find(_ key: borrowing TimerKey) -> SlotIndex? { table.find(key) }

    /// Fetches from memory what the next steps, for timers whose keys have these hashes, read first: fetches of many keys overlap.
    public mutating func fetch(_ hashes: [UInt64]) { table.fetch(hashes) }

    /// Returns a timer's progress.
    public func progress(_ slot: SlotIndex) -> TimerProgress { table.progress(slot) }

    /// Returns the rest of a watchdog's progress; nil for other kinds.
    public func kicks(_ slot: SlotIndex) -> KickProgress? {
        withDefinition(slot, Definition.isWatchdog) ? table.kicks(slot) : nil
    }

    /// Returns the top half of the hash of a timer's name.
    public func hash(_ slot: SlotIndex) -> UInt32 { table.hash(slot) }

    /// Returns the slot of the timer whose name has `hash` as the top half of its hash and whose newest definition
    /// is in the record at `base`.
    public func find(hash: UInt32, base: Int64) -> SlotIndex? { table.find(hash: hash, base: base) }

    /// Runs `body` on a timer's encoded definition.
    public func withDefinition<Result>(_ slot: SlotIndex, _ body: (Span<UInt8>) -> Result) -> Result {
        table[slot].definition.withSpan(body)
    }

    /// The cost of all schedules that were read so far, in small timers that fire: those that are known cost nothing.
    public var readingCost: Int { schedules.cost }

    /// Returns a timer's rules.
    public func rules(_ slot: SlotIndex) -> TimerRules {
        let schedules = schedules
        return withDefinition(slot) { Definition.checkedRules($0, schedules: schedules) }
    }

    /// Returns the layout of a timer's definition.
    func layout(_ slot: SlotIndex) -> Definition.Layout {
        let schedules = schedules
        return withDefinition(slot) { Definition.checkedLayout($0, schedules: schedules) }
    }

    /// Runs `body` on a timer's webhook, as its writer encoded it; nil if it has none.
    public func withWebhook<Result>(_ slot: SlotIndex, _ body: (Span<UInt8>) -> Result) -> Result? {
        guard let webhook = layout(slot).webhook else { return nil }
        return withDefinition(slot) { body($0.extracting(webhook)) }
    }

    /// Returns the rules of a definition that a client sent, as they are after a step at `now`.
    func rules(_ definition: Span<UInt8>, _ now: Now) -> TimerRules {
        guard Definition.lacksStart(definition) else {
            return Definition.checkedRules(definition, schedules: schedules)
        }
        var begun = [UInt8](copying: definition)
        Definition.setStart(now.wall, in: &begun)
        return Definition.checkedRules(begun.span, schedules: schedules)
    }

    /// Returns the position of the newest record about a timer: an answer that shows the timer waits until that
    /// record is durable.
    public func lastRecord(_ slot: SlotIndex) -> Int64 { table.lastRecord(slot) }

    /// Returns the position of a timer's newest event.
    public func lastEvent(_ slot: SlotIndex) -> Int64 { table[slot].lastEvent }

    /// Returns the position of the newest record that holds a timer's definition.
    public func base(_ slot: SlotIndex) -> Int64 { table[slot].base }

    /// Notes the position that a record about a timer was given.
    ///
    /// - Parameters:
    ///   - isBase: whether the record holds the definition.
    ///   - isEvent: whether the record is an event, not a snapshot.
    /// - Returns: the position of the timer's event before, 0 for none.
    public mutating func stamp(_ slot: SlotIndex, position: Int64, isBase: Bool, isEvent: Bool) -> Int64 {
        table.stamp(slot, position: position, isBase: isBase, isEvent: isEvent)
    }

    /// Notes the position with which the record of a watchdog's newest kick is durable.
    public mutating func stampKick(_ slot: SlotIndex, position: Int64) { table.stampKick(slot, position: position) }

    /// Frees the timers that the step deleted and left readable for its effects.
    public mutating func finishStep() {
        for slot in unlinked { table.release(slot) }
        unlinked.removeAll(keepingCapacity: true)
    }

    /// Notes that the fire loop was stalled until `now`: instants that were due by then misfire.
    public mutating func noteLoopStall(until now: Now) {
        for clock in TimerClock.allCases { misfireUntil[clock] = now.milliseconds(on: clock) }
    }

    /// Notes that the calendar was stepped forward to `now`: the due instants that it skipped misfire.
    public mutating func noteWallStep(to now: Now) { misfireUntil[.wall] = now.milliseconds(on: .wall) }
}

/// The positions of the last events of the timers that were deleted last, by the hash of the timer's name.
struct DeletedTimers {
    /// The most deletions that are remembered.
    static let capacity = 65_536

    private static let shardCount: UInt64 = 256
    /// The positions by hash, in shards, so that no deletion has to move more than one of them.
    private var positions = [[UInt64: Int64]](repeating: [:], count: Int(DeletedTimers.shardCount))
    private var order: FIFO<(hash: UInt64, position: Int64)> = FIFO()

    /// Notes the position of a deleted timer's newest event; forgets the oldest deletion above `capacity`.
    mutating func note(_ hash: UInt64, at position: Int64) {
        positions[Self.shard(hash)][hash] = position
        order.append((hash, position))
        guard order.count > Self.capacity, let oldest = order.popFirst() else { return }
        // An id that was deleted again since has a newer position.
        let shard = Self.shard(oldest.hash)
        if positions[shard][oldest.hash] == oldest.position { positions[shard][oldest.hash] = nil }
    }

    private static func shard(_ hash: UInt64) -> Int { Int(hash % shardCount) }

    /// Returns the position of the newest event of the deleted timer whose name has `hash`; nil if none is
    /// remembered.
    func lastEvent(_ hash: UInt64) -> Int64? { positions[Self.shard(hash)][hash] }
}

extension Scheduler {
    /// Notes the position that the event of a timer's deletion was given. Called before `finishStep`, while the
    /// timer is readable.
    public mutating func noteDeleted(_ slot: SlotIndex, at position: Int64) {
        deleted.note(table.order(of: slot), at: position)
    }

    /// Returns the position of the newest event of a timer named `key` that was deleted; nil if none is remembered.
    public func lastEvent(ofDeleted key: borrowing TimerKey) -> Int64? { deleted.lastEvent(key.hash) }
}
