/// The arming of timers, which wait for their instants in two wheels and in the queue of those that catch up.
extension Scheduler {
    /// Returns an instant in elapsed nanoseconds not after the next due one; nil when nothing is planned.
    public func nextWake(_ now: Now) -> Int64? {
        // `Int64.max`, the end of the clock, is a wake too; nil means that nothing is planned.
        var wake: Int64?
        func consider(_ other: Int64?) { if let other { wake = min(wake ?? .max, other) } }
        consider(elapsedWheel.nextWake.map { Self.saturating($0) })
        consider(wallWheel.nextWake.map { Self.saturating($0 - now.wallOffset) })
        consider(deliveries.wheel.nextWake.map { Self.saturating($0) })
        consider(catchUp.isEmpty ? nil : catchUpFrom)
        // Work that can begin at once counts beside overdue entries and does not hide them: from the oldest one a
        // start finds how long the server was down.
        if rebuildFrom != nil || replanFrom != nil || elapsedWheel.wantsSweep || wallWheel.wantsSweep
            || deliveries.wheel.wantsSweep
        {
            consider(now.elapsed)
        }
        return wake
    }

    /// Returns the age of the oldest due instant that has not fired, in milliseconds; 0 if there is none. An entry
    /// whose timer was planned again since counts until it comes up.
    public func overdue(_ now: Now) -> Int64 {
        var oldest: Int64 = 0
        if let due = elapsedWheel.nextWake { oldest = max(oldest, now.milliseconds(on: .continuous) - due) }
        if let due = wallWheel.nextWake { oldest = max(oldest, now.milliseconds(on: .wall) - due) }
        if let first = catchUp.first, table[first.slot].generation == first.generation {
            oldest = max(oldest, now.wall - now.wall(of: table[first.slot].due, on: table[first.slot].traits.clock))
        }
        return oldest
    }

    /// Converts `milliseconds` to nanoseconds; far instants stop at the end of the range (the year 2262), where
    /// waking early is harmless.
    private static func saturating(_ milliseconds: Int64) -> Int64 {
        let (product, overflow) = milliseconds.multipliedReportingOverflow(by: nanosecondsPerMillisecond)
        return overflow ? (milliseconds < 0 ? 0 : .max) : max(0, product)
    }

    /// Whether any timer counts the time that the server is up, or depends on when the server was up last.
    public var countsUptime: Bool { table.suspendingCount > 0 || table.stoppableCount > 0 }

    /// Whether any timer may be a watchdog.
    public var mayHoldWatchdogs: Bool { table.mayHoldWatchdogs }

    /// Returns the instant at which the timer at `slot` fires, in milliseconds on its clock: the due instant, with
    /// jitter and leeway. A watchdog that awaits an instant of its schedule does not fire then, so that instant is
    /// returned as it is.
    func planned(_ slot: SlotIndex, _ grid: borrowing Grid) -> Int64 {
        let due = table[slot].due
        if table[slot].flags.contains(.awaiting) { return due }
        if grid.rules.jitter == 0 && grid.rules.leeway == 0 { return due }
        return withDefinition(slot) { grid.planned(due, $0) }
    }

    /// Puts a timer where its state belongs: a running one where its next instant is found, an ended one where it
    /// is forgotten. Held timers and those in other states are put nowhere.
    mutating func arm(_ slot: SlotIndex, _ grid: borrowing Grid, _ now: Now) {
        let progress = table.progress(slot)
        let rules = grid.rules
        if progress.state.hasEnded { return elapsedWheel.insert(table.arm(slot, .elapsed, due: progress.due)) }
        guard progress.state == .running, !isHeld(slot) else { return }
        recentArmings.append(slot)
        if let until = endsUnfired(progress, rules, now) {
            return wallWheel.insert(table.arm(slot, .wall, due: until, build: wallBuild))
        }
        guard progress.isPlanned else { return }
        if progress.flags.contains(.awaiting) { return arm(slot, on: .wall, at: progress.due, now) }
        if !late.isEmpty, let end = late[slot], progress.due > end { late[slot] = nil }
        if rules.misfire == .all, progress.due <= misfires(slot, on: rules.clock), !table[slot].plannedPast {
            let entry = table.arm(slot, .catchUp, due: progress.due)
            return catchUp.append(CatchUpQueue.Entry(slot: slot, generation: entry.generation))
        }
        let planned = planned(slot, grid)
        widestSlack = max(widestSlack, planned - progress.due)
        arm(slot, on: rules.clock, at: planned, now)
    }

    /// Puts a timer into the wheel of its clock.
    mutating func arm(_ slot: SlotIndex, on clock: TimerClock, at planned: Int64, _ now: Now) {
        if clock == .wall || clock == .working {
            wallWheel.insert(table.arm(slot, .wall, due: planned, build: wallBuild))
        } else {
            let wheel = clock == .suspending ? TimerSlot.Armed.suspending : .elapsed
            elapsedWheel.insert(table.arm(slot, wheel, due: planned - now.offset(of: clock)))
        }
    }

    /// Returns the wall instant at which a watchdog completes because no alarm comes before; nil for others.
    private func endsUnfired(_ progress: TimerProgress, _ rules: TimerRules, _ now: Now) -> Int64? {
        guard rules.schedule.kind == .watchdog, let until = rules.until else { return nil }
        return !progress.isPlanned || progress.fireDue(rules, now) > rules.lastDue(now) ? until : nil
    }

    mutating func disarm(_ slot: SlotIndex) {
        switch table[slot].armed {
        case .no: return
        case .elapsed, .suspending: elapsedWheel.cancel()
        case .wall where table[slot].wheelBuild == wallBuild: wallWheel.cancel()
        case .wall, .catchUp: break
        }
        table.disarm(slot)
    }
}

extension Scheduler {
    /// Plans the wall clock's timers again after the calendar was stepped back to `now`, which a wheel can't follow.
    ///
    /// The new wheel is filled by `advance`, a bounded number of slots at a time: until a timer is in the wheel,
    /// its fire may be late, never early.
    public mutating func rebuildWallWheel(_ now: Now) {
        let wall = now.milliseconds(on: .wall)
        wallWheel = TimerWheel(position: wall)
        recentArmings = RecentArmings()
        wallBuild &+= 1
        rebuildFrom = 0
        // Instants that lie ahead again were not missed.
        misfireUntil[.wall] = min(misfireUntil[.wall], wall)
    }

    /// Whether the timer at `slot` is not in the new wheel of the wall clock yet.
    func waitsForRebuild(_ slot: SlotIndex) -> Bool {
        table[slot].armed == .wall && table[slot].wheelBuild != wallBuild
    }

    /// Moves the timers of at most `limit` slots into the new wheel. Returns whether the rebuild is over.
    mutating func continueRebuild(limit: Int, _ now: Now) -> Bool {
        guard let start = rebuildFrom else { return true }
        let end = min(table.slotCount, Int(start) + limit)
        for slot in Int(start)..<end where table[SlotIndex(slot)].armed == .wall {
            let slot = SlotIndex(slot)
            if table[slot].wheelBuild != wallBuild { arm(slot, Grid(rules(slot), book), now) }
        }
        rebuildFrom = end == table.slotCount ? nil : SlotIndex(end)
        return rebuildFrom == nil
    }
}

/// The overdue timers under `misfire: all`: each fires one missed instant, then goes to the end of the queue.
struct CatchUpQueue {
    /// A timer that waits; the entry is dropped if the timer was armed again since.
    struct Entry: BitwiseCopyable {
        var slot: SlotIndex
        var generation: UInt32
    }

    private var entries = FIFO<Entry>()

    var isEmpty: Bool { entries.isEmpty }

    var count: Int { entries.count }

    /// The entry that comes next.
    var first: Entry? { entries.first }

    /// The number of entries taken so far, which is the place of the first that waits. Places only grow.
    private(set) var taken = 0

    /// Returns the entry at a place; nil after the last.
    func entry(at place: Int) -> Entry? { place - taken < entries.count ? entries[place - taken] : nil }

    mutating func append(_ entry: Entry) { entries.append(entry) }

    mutating func popFirst() -> Entry? {
        guard let entry = entries.popFirst() else { return nil }
        taken += 1
        return entry
    }
}

/// The timers that were armed last, `capacity` of them, and the number of all armings.
struct RecentArmings {
    /// The identity of a run of armings: as long as it is the same, every timer armed since is counted here.
    final class Era: Sendable {}

    /// The most armings that are remembered.
    static let capacity = 4096

    let era = Era()
    /// A ring of the timers armed last, as many as there have been up to the capacity.
    private var slots: [SlotIndex] = []
    /// The number of all armings.
    private(set) var count = 0

    mutating func append(_ slot: SlotIndex) {
        if slots.count == Self.capacity { slots[count % Self.capacity] = slot } else { grow(slot) }
        count += 1
    }

    // Kept out of `append`, which every arming calls, so that `append` is inlined.
    @inline(never) private mutating func grow(_ slot: SlotIndex) { slots.append(slot) }

    /// Returns the timers armed after the first `seen`; nil when not all of them are remembered any more.
    func after(_ seen: Int) -> [SlotIndex]? {
        guard count - seen <= Self.capacity else { return nil }
        return (seen..<count).map { slots[$0 % Self.capacity] }
    }
}
