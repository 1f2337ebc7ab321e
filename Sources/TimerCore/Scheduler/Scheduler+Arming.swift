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
        if rebuildFrom != nil || elapsedWheel.wantsSweep || wallWheel.wantsSweep || deliveries.wheel.wantsSweep {
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
    func planned(_ slot: SlotIndex, _ grid: Grid) -> Int64 {
        let due = table[slot].due
        if table[slot].flags.contains(.awaiting) { return due }
        if grid.rules.jitter == 0 && grid.rules.leeway == 0 { return due }
        return withDefinition(slot) { grid.planned(due, $0) }
    }

    /// Puts a timer where its state belongs: a running one where its next instant is found, an ended one where it
    /// is forgotten. Held timers and those in other states are put nowhere.
    mutating func arm(_ slot: SlotIndex, _ grid: Grid, _ now: Now) {
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
        if clock == .wall {
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
