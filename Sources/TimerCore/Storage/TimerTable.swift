/// Every timer: a slab of fixed slots, an index from id that is also the order of lists, and one from labels.
struct TimerTable: ~Copyable {
    /// A member that has the table, and the scheduler around it, passed by their addresses: Swift copies a large struct
    /// without an existential to the stack for each call that reads it.
    private let inPlace: any Sendable = ()
    private var slots = PagedStorage<TimerSlot>(pageShift: 12, fill: TimerSlot())
    /// The rest of the progress of timers that have fired, found by `TimerSlot.fires`: most wait for their first fire.
    private var fireSlots = PagedStorage<FireSlot>(pageShift: 12, fill: FireSlot())
    private var freeFires: [UInt32] = []
    /// The kicks of watchdogs by slot, up to the highest slot that a watchdog has had; empty if there was none.
    private var kickSlots = PagedStorage<KickSlot>(pageShift: 12, fill: KickSlot())
    private var free: [SlotIndex] = []
    private(set) var byID = HashOrderedIndex()
    /// Entries of timers that `byID` lacks so far: see `insertUnindexed`.
    private var unindexed: [UInt64] = []
    /// The bounds within which all are indexed once they are as many as the indexed ones.
    private static let leastIndexed = 4096
    private static let mostUnindexed = 1 << 20
    private var byLabel = LabelIndex()
    /// The watchdogs that alarm now, in the order of `byID`.
    private var alarming = HashOrderedIndex()
    /// The hash of ids and labels.
    let siphash: SipHash
    private var definitions = BlobHeap()
    /// The bytes of all definitions.
    private(set) var definitionBytes = 0
    /// The number of armed timers on the suspending clock.
    private(set) var suspendingCount = 0
    /// The number of running timers that are suspended once their last subscriber leaves.
    private(set) var stoppableCount = 0
    /// The number of timers that go by a calendar and have not ended, by its name.
    private var calendarUses: [CalendarName: Int] = [:]
    private var countByState = [Int](repeating: 0, count: TimerState.allCases.count)

    init(secret: [UInt8]) { siphash = SipHash(secret: secret) }

    // Explicit, as in `Scheduler`, so that the memory of the definitions is freed with the table.
    deinit {}

    /// The number of timers.
    var count: Int { byID.count + unindexed.count }

    /// Returns how many timers are in `state`.
    func count(in state: TimerState) -> Int { countByState[Int(state.rawValue)] }

    /// The number of slots, in use or not: indices are below.
    var slotCount: Int { slots.count }

    subscript(slot: SlotIndex) -> TimerSlot {
        _read { yield slots[Int(slot)] }
    }

    /// Returns the slot of the timer named `key`; nil when there is none.
    func find(_ key: borrowing TimerKey) -> SlotIndex? {
        precondition(unindexed.isEmpty, "every timer is in the index")
        let key = copy key
        return byID.find(hash: Self.indexed(key.hash)) { slot in
            slots[Int(slot)].definition.withSpan { key.names($0) }
        }
    }

    /// Fetches what `find` reads first for keys with these hashes.
    mutating func fetch(_ hashes: [UInt64]) { byID.fetchPages(of: hashes) }

    /// Whether `definition`, whole or a prefix, has the name of the timer at `slot`.
    func isNamed(_ slot: SlotIndex, by definition: Span<UInt8>) -> Bool {
        let entry = slots[Int(slot)]
        guard entry.inUse, let count = TimerID.keptCount(definition, at: 1) else { return false }
        return entry.definition.withSpan { own in
            guard own.count > count else { return false }
            for index in 0...count where own[index] != definition[index] { return false }
            return true
        }
    }

    /// Adds a timer, whose `key` is not there yet.
    mutating func insert(_ key: borrowing TimerKey, definition: Span<UInt8>, progress: TimerProgress) -> SlotIndex {
        let slot = add(key.hash, definition: definition, progress: progress)
        byID.insert(hash: slots[Int(slot)].hash, value: slot)
        return slot
    }

    /// Adds a timer whose name has `hash`, and which `find` finds after `indexRest`: many at once are indexed faster.
    mutating func insertUnindexed(_ hash: UInt64, definition: Span<UInt8>, progress: TimerProgress) -> SlotIndex {
        let slot = add(hash, definition: definition, progress: progress)
        unindexed.append(HashOrderedIndex.entry(slots[Int(slot)].hash, slot))
        if unindexed.count >= min(max(Self.leastIndexed, byID.count), Self.mostUnindexed) { indexRest() }
        return slot
    }

    /// Puts the timers that are not indexed yet into the index.
    mutating func indexRest() {
        if unindexed.isEmpty { return }
        byID.insert(unindexed)
        unindexed.removeAll(keepingCapacity: unindexed.count <= Self.leastIndexed)
    }

    private mutating func add(_ hash: UInt64, definition: Span<UInt8>, progress: TimerProgress) -> SlotIndex {
        let slot = free.popLast() ?? SlotIndex(slots.grow(by: 1))
        let generation = slots[Int(slot)].generation
        var fresh = TimerSlot()
        fresh.definition = definitions.copy(definition)
        fresh.traits = Definition.traits(definition)
        fresh.hash = Self.indexed(hash)
        fresh.generation = generation &+ 1
        fresh.inUse = true
        fresh.take(progress)
        slots[Int(slot)] = fresh
        if fresh.isAlarming { noteAlarm(slot, true) }
        storeFires(progress, slot)
        if Int(slot) < kickSlots.count { kickSlots[Int(slot)] = KickSlot() }
        definitionBytes += definition.count
        countState(slot, by: 1)
        countUse(slot, by: 1)
        indexLabels(slot, fresh.definition, adding: true)
        return slot
    }

    /// Takes a timer out of every index. Its slot stays readable until `release`.
    mutating func unlink(_ slot: SlotIndex) {
        let entry = slots[Int(slot)]
        byID.remove(hash: entry.hash, value: slot)
        indexLabels(slot, entry.definition, adding: false)
        countState(slot, by: -1)
        countUse(slot, by: -1)
        if entry.isAlarming { noteAlarm(slot, false) }
        slots[Int(slot)].inUse = false
        disarm(slot)
    }

    /// Frees an unlinked timer's slot and memory.
    mutating func release(_ slot: SlotIndex) {
        definitionBytes -= slots[Int(slot)].definition.count
        definitions.free(slots[Int(slot)].definition)
        slots[Int(slot)].definition = .empty
        if slots[Int(slot)].fires > 0 { freeFires.append(slots[Int(slot)].fires) }
        free.append(slot)
    }

    /// Replaces a timer's definition.
    mutating func redefine(_ slot: SlotIndex, _ definition: Span<UInt8>) {
        let old = slots[Int(slot)].definition
        indexLabels(slot, old, adding: false)
        let fresh = definitions.copy(definition)
        countState(slot, by: -1)
        countUse(slot, by: -1)
        slots[Int(slot)].definition = fresh
        slots[Int(slot)].traits = Definition.traits(definition)
        countState(slot, by: 1)
        countUse(slot, by: 1)
        indexLabels(slot, fresh, adding: true)
        definitionBytes += fresh.count - old.count
        definitions.free(old)
    }

    /// Replaces a timer's progress.
    mutating func setProgress(_ slot: SlotIndex, _ progress: TimerProgress) {
        if slots[Int(slot)].state == progress.state { return store(progress, slot) }
        let changesUse =
            slots[Int(slot)].traits.contains(.calendar) && slots[Int(slot)].state.hasEnded != progress.state.hasEnded
        countState(slot, by: -1)
        if changesUse { countUse(slot, by: -1) }
        store(progress, slot)
        countState(slot, by: 1)
        if changesUse { countUse(slot, by: 1) }
    }

    /// Adds `change` to the number of timers in the state of the timer at `slot`.
    @inline(__always)
    private mutating func countState(_ slot: SlotIndex, by change: Int) {
        let state = slots[Int(slot)].state
        countByState[Int(state.rawValue)] += change
        if state == .running, slots[Int(slot)].traits.contains(.stopsUnsubscribed) { stoppableCount += change }
    }

    /// Adds `change` to the uses of the calendar that the timer at `slot` goes by; an ended timer uses none.
    private mutating func countUse(_ slot: SlotIndex, by change: Int) {
        guard slots[Int(slot)].traits.contains(.calendar), !slots[Int(slot)].state.hasEnded,
            let name = slots[Int(slot)].definition.withSpan(Definition.calendarName)
        else { return }
        let count = uses(of: name) + change
        calendarUses[name] = count > 0 ? count : nil
    }

    /// Returns how many timers go by a calendar and have not ended.
    func uses(of calendar: CalendarName) -> Int { calendarUses[calendar] ?? 0 }

    /// Returns a timer's progress.
    func progress(_ slot: SlotIndex) -> TimerProgress {
        let entry = slots[Int(slot)]
        var progress = TimerProgress()
        progress.version = entry.version
        progress.updatedAt = entry.updatedAt
        progress.due = entry.due
        progress.state = entry.state
        progress.flags = entry.flags
        progress.edition = entry.edition
        guard entry.fires > 0 else { return progress }
        let fires = fireSlots[Int(entry.fires) - 1]
        progress.lastFiredAt = fires.lastFiredAt
        progress.fireCount = fires.fireCount
        progress.missedCount = fires.missedCount
        progress.firesSinceActivation = fires.firesSinceActivation
        return progress
    }

    private mutating func store(_ progress: TimerProgress, _ slot: SlotIndex) {
        let index = Int(slot)
        if slots[index].isAlarming != progress.isAlarming { noteAlarm(slot, progress.isAlarming) }
        slots[index].take(progress)
        storeFires(progress, slot)
    }

    private mutating func storeFires(_ progress: TimerProgress, _ slot: SlotIndex) {
        let index = Int(slot)
        if slots[index].fires == 0 {
            guard
                progress.lastFiredAt != 0 || progress.fireCount != 0 || progress.missedCount != 0
                    || progress.firesSinceActivation != 0
            else { return }
            slots[index].fires = freeFires.popLast() ?? UInt32(fireSlots.grow(by: 1) + 1)
        }
        fireSlots[Int(slots[index].fires) - 1] = FireSlot(
            lastFiredAt: progress.lastFiredAt, fireCount: progress.fireCount, missedCount: progress.missedCount,
            firesSinceActivation: progress.firesSinceActivation)
    }

    /// Notes that a watchdog alarms from now on, or no longer.
    private mutating func noteAlarm(_ slot: SlotIndex, _ alarms: Bool) {
        let hash = slots[Int(slot)].hash
        if alarms { return alarming.insert(hash: hash, value: slot) }
        alarming.remove(hash: hash, value: slot)
        // Pages that many alarms took are freed with the last of them, as a walk passes every page.
        if alarming.count == 0 { alarming = HashOrderedIndex() }
    }

    /// Notes that a timer's due instant is planned by an edition of its calendar.
    mutating func setEdition(_ slot: SlotIndex, _ edition: UInt8) { slots[Int(slot)].edition = edition }

    /// Notes whether the due instant had passed when a command planned it.
    mutating func setPlannedPast(_ slot: SlotIndex, _ isPast: Bool) { slots[Int(slot)].plannedPast = isPast }

    /// Notes the position of a new record about a timer. Returns the position of the timer's event before.
    mutating func stamp(_ slot: SlotIndex, position: Int64, isBase: Bool, isEvent: Bool) -> Int64 {
        let previous = slots[Int(slot)].lastEvent
        if isEvent { slots[Int(slot)].lastEvent = position }
        if isBase { slots[Int(slot)].base = position }
        return previous
    }

    /// Notes the place of the newest of a timer's pending deliveries; 0 for none.
    mutating func setDeliveries(_ slot: SlotIndex, _ tail: UInt32) { slots[Int(slot)].deliveries = tail }

    /// Restores the position of a timer's newest event from a record that names it, itself perhaps no event.
    mutating func setLastEvent(_ slot: SlotIndex, _ position: Int64) { slots[Int(slot)].lastEvent = position }

    /// Marks a timer as armed for `due`, in milliseconds on the wheel's clock. Returns the entry to put into the
    /// wheel.
    mutating func arm(
        _ slot: SlotIndex, _ wheel: TimerSlot.Armed, due: Int64, build: UInt8 = 0
    ) -> TimerWheel.Entry {
        disarm(slot)
        slots[Int(slot)].armed = wheel
        if wheel == .suspending { suspendingCount += 1 }
        slots[Int(slot)].wheelBuild = build
        return TimerWheel.Entry(due: due, slot: slot, generation: slots[Int(slot)].generation)
    }

    /// Marks a timer as in no wheel.
    mutating func disarm(_ slot: SlotIndex) {
        if slots[Int(slot)].armed == .suspending { suspendingCount -= 1 }
        slots[Int(slot)].generation &+= 1
        slots[Int(slot)].armed = .no
    }

    private mutating func indexLabels(_ slot: SlotIndex, _ definition: Blob, adding: Bool) {
        let hash = slots[Int(slot)].hash
        var labels: [[UInt8]] = []
        definition.withSpan { bytes in
            let run = Definition.labels(bytes)
            var offset = run.lowerBound
            var start = offset
            while Definition.nextLabel(bytes, &offset, end: run.upperBound) != nil {
                labels.append((start..<offset).map { bytes[$0] })
                start = offset
            }
        }
        for label in labels {
            let labelHash = labelHash(label)
            if adding {
                byLabel.insert(label, labelHash: labelHash, hash: hash, slot: slot)
            } else {
                byLabel.remove(label, labelHash: labelHash, hash: hash, slot: slot)
            }
        }
    }

    private func labelHash(_ label: [UInt8]) -> UInt32 {
        UInt32(truncatingIfNeeded: siphash.hash(label.span, tweak: 1) >> 32)
    }
}

extension TimerTable {
    /// Returns the rest of a watchdog's progress.
    func kicks(_ slot: SlotIndex) -> KickProgress {
        Int(slot) < kickSlots.count ? kickSlots[Int(slot)].progress : KickProgress()
    }

    /// Replaces the rest of a watchdog's progress. For a timer that is none, nil clears it, so that it begins again
    /// if the timer becomes one.
    mutating func setKicks(_ slot: SlotIndex, _ kicks: KickProgress?) {
        guard let kicks else {
            if Int(slot) < kickSlots.count { kickSlots[Int(slot)].progress = KickProgress() }
            return
        }
        growKicks(slot)
        kickSlots[Int(slot)].progress = kicks
    }

    /// Notes the position with which the record of the newest kick is durable.
    mutating func stampKick(_ slot: SlotIndex, position: Int64) {
        growKicks(slot)
        kickSlots[Int(slot)].lastRecord = position
    }

    /// Whether any timer may be a watchdog.
    var mayHoldWatchdogs: Bool { kickSlots.count > 0 }

    private mutating func growKicks(_ slot: SlotIndex) {
        if Int(slot) >= kickSlots.count { _ = kickSlots.grow(by: Int(slot) + 1 - kickSlots.count) }
    }

    /// Returns the position of the newest record about a timer: an answer that shows the timer waits until that
    /// record is durable.
    func lastRecord(_ slot: SlotIndex) -> Int64 {
        let entry = slots[Int(slot)]
        let kick = Int(slot) < kickSlots.count ? kickSlots[Int(slot)].lastRecord : 0
        return max(entry.lastEvent, entry.base, kick)
    }

    /// Returns the slot of the timer whose name has `hash` as the top half of its hash and whose newest definition
    /// is in the record at `base`.
    func find(hash: UInt32, base: Int64) -> SlotIndex? {
        precondition(unindexed.isEmpty, "every timer is in the index")
        var found: SlotIndex?
        byID.walk(from: hash) { indexed, slot in
            guard indexed == hash else { return false }
            if slots[Int(slot)].base == base { found = slot }
            return found == nil
        }
        return found
    }

    /// Returns the top half of the keyed hash of a timer's name.
    func hash(_ slot: SlotIndex) -> UInt32 { slots[Int(slot)].hash }

    /// Returns the part of a hash that the indexes keep: its top half.
    private static func indexed(_ hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: hash >> 32) }

    /// Returns the whole keyed hash of a timer's name, which is its place in lists.
    func order(of slot: SlotIndex) -> UInt64 {
        self[slot].definition.withSpan { TimerKey.hash(definition: $0, siphash: siphash) }
    }

    /// Returns how many timers a selection has.
    func count(of selection: Selection) -> Int {
        switch selection {
        case .all: count
        case .labelled(let label): byLabel.count(label, labelHash: labelHash(label))
        case .alarming: alarming.count
        }
    }

    /// Hands timers of a selection to `body`, in the order of the top halves of their hashes, until it returns
    /// false. The first ones share the top half of `place`, or follow it.
    func walk(from place: UInt64, over selection: Selection, _ body: (_ hash: UInt32, SlotIndex) -> Bool) {
        let hash = Self.indexed(place)
        switch selection {
        case .all: byID.walk(from: hash, body)
        case .labelled(let label): byLabel.walk(label, labelHash: labelHash(label), from: hash, body)
        case .alarming: alarming.walk(from: hash, body)
        }
    }
}

extension TimerTable: ArmedTimers {
    func isArmed(with entry: TimerWheel.Entry) -> Bool {
        let slot = slots[Int(entry.slot)]
        return slot.armed != .no && slot.generation == entry.generation
    }

    func weight(of entry: TimerWheel.Entry) -> Int { weight(entry.slot) }

    /// Returns the cost of firing the timer: see ``TimerSlot/weight``.
    func weight(_ slot: SlotIndex) -> Int { slots[Int(slot)].weight }
}
