extension Scheduler {
    /// Fires and forgets what is due at `now`.
    ///
    /// - Parameter limit: the most timers to touch, large ones counting for several; further ones wait for the next
    ///   call.
    /// - Returns: whether everything due was handled.
    public mutating func advance(to now: Now, limit: Int, _ effects: inout [Effect]) -> Bool {
        expired.removeAll(keepingCapacity: true)
        let isRebuilt = continueRebuild(limit: limit, now)
        let isReplanned = continueReplanning(limit: limit, now, &effects)
        // Half of the budget is the wall clock's, so that timers due on one clock do not starve those on the other.
        var budget = wallWheel.count == 0 ? limit : limit - limit / 2
        let kept = limit - budget
        var done = elapsedWheel.expire(
            now.milliseconds(on: .continuous), budget: &budget, into: &expired, armed: table)
        budget += kept
        done =
            wallWheel.expire(now.milliseconds(on: .wall), budget: &budget, into: &expired, armed: table) && done
        for index in expired.indices {
            let slot = expired[index].slot
            table.disarm(slot)
            if table[slot].state == .running {
                handleEntry(slot, now, &effects)
            } else if table[slot].deliveries == 0 {
                forget(slot, now, reason: .expired, &effects)
            }
        }
        continueCatchUp(now, limit: limit, &effects)
        let hasExpired = expireDeliveries(now, limit: limit)
        return done && hasExpired && isRebuilt && isReplanned && !isDue(elapsedWheel.nextWake, on: .continuous, now)
            && !isDue(wallWheel.nextWake, on: .wall, now)
    }

    /// Whether the next instant of a wheel is due: a late timer's next one may be due as well.
    private func isDue(_ wake: Int64?, on clock: TimerClock, _ now: Now) -> Bool {
        wake.map { $0 <= now.milliseconds(on: clock) } ?? false
    }

    /// Handles a running timer whose entry came up in a wheel: its instant has come, or was moved to a later one since.
    private mutating func handleEntry(_ slot: SlotIndex, _ now: Now, _ effects: inout [Effect]) {
        if replan(slot, now, &effects) { return }
        var step = begin(slot, now)
        if step.isWatchdog, step.isOver, !step.progress.isPlanned || step.isPast(step.fireDue) {
            step.complete(&effects)
            return commit(step, &effects, isFire: true)
        }
        if step.progress.isPlanned, step.progress.flags.contains(.awaiting), step.progress.due <= now.wall {
            step.beginGrace(isLate: step.progress.due <= misfires(slot, on: .wall), &effects)
            // The instant up to which this timer was late is on the wall clock, and the grace counts by another.
            if !late.isEmpty { late[slot] = nil }
            return commit(step, &effects, isFire: true)
        }
        let reached = now.milliseconds(on: step.progress.dueClock(step.rules.clock))
        guard step.progress.isPlanned, planned(slot, step.grid) <= reached else { return arm(slot, step.grid, now) }
        fireDue(&step, &effects)
        commit(step, &effects, isFire: true)
    }

    private func fireDue(_ step: inout Step, _ effects: inout [Effect]) {
        let due = step.progress.due
        if step.isPast(due) {
            // The fire was due before `until` when it was planned; the calendar was stepped forward since.
            return step.complete(&effects)
        }
        let misfires = misfires(step.slot, on: step.rules.clock)
        if due <= misfires && planned(step.slot, step.grid) <= misfires && !table[step.slot].plannedPast {
            step.misfire(through: misfires, &effects)
        } else if step.rules.grace != nil {
            step.alarmForExpected(through: due, &effects)
        } else if step.isWatchdog {
            step.alarm(due, missed: 0, &effects)
        } else {
            // An instant that a changed calendar moved into the past may lie before others that have fired.
            let isMoved = step.rules.calendar != nil && step.grid.namesInstants && table[step.slot].plannedPast
            let next = step.next(after: isMoved ? max(due, step.progress.lastFiredAt) : due)
            step.fire(.due, due: due, missed: 0, next: next, &effects)
        }
    }

    /// Handles a bounded number of overdue timers that catch up, so that they never starve the others.
    private mutating func continueCatchUp(_ now: Now, limit: Int, _ effects: inout [Effect]) {
        guard !catchUp.isEmpty, now.elapsed >= catchUpFrom else { return }
        catchUpFrom = now.elapsed + nanosecondsPerMillisecond
        var budget = limit
        for _ in 0..<min(Self.catchUpsAMillisecond, catchUp.count) {
            guard budget > 0, let entry = catchUp.popFirst() else { return }
            guard table[entry.slot].armed == .catchUp, table[entry.slot].generation == entry.generation else {
                continue
            }
            budget -= table.weight(entry.slot)
            table.disarm(entry.slot)
            handleEntry(entry.slot, now, &effects)
        }
    }

    /// The most timers that catch up in a millisecond.
    static let catchUpsAMillisecond = 64

    /// The most due instants of one gap that `misfire: all` fires for; older ones are dropped and counted.
    public static let mostCaughtUp: Int64 = 1000

    /// Returns the next fires of a timer: none unless it runs.
    public func upcoming(_ slot: SlotIndex, _ now: Now, count: Int) -> UpcomingFires {
        var progress = table.progress(slot)
        let grid = presentGrid(slot, &progress)
        guard progress.state == .running else { return UpcomingFires(grid, from: nil, now, count: 0) }
        if grid.rules.grace != nil {
            let due = expected(slot, grid, progress, now)
            return UpcomingFires(grid, from: due, now, count: Int64(count))
        }
        let left = grid.rules.maxFires.map { $0 - progress.firesSinceActivation } ?? .max
        return UpcomingFires(grid, from: progress.due, now, count: min(Int64(count), left))
    }

    /// Returns the next instant at which a watchdog that has a schedule expects a kick.
    private func expected(_ slot: SlotIndex, _ grid: borrowing Grid, _ progress: TimerProgress, _ now: Now) -> Int64? {
        if progress.isPlanned, progress.flags.contains(.awaiting), grid.rules.misses == 1, progress.due > now.wall {
            return progress.due
        }
        // The last kick may have counted for an instant that is still to come.
        let counted = grid.counted(forKickAt: table.kicks(slot).lastKickedAt)
        return grid.expected(after: max(now.wall, counted))
    }

    /// Returns the fires that a timer of these rules would have, activated at `now`.
    public func preview(_ rules: TimerRules, _ now: Now, count: Int) throws(TimerRefusal) -> UpcomingFires {
        var rules = rules
        rules.schedule = rules.schedule.begun(at: now.wall, in: zones)
        let grid = Grid(rules, book)
        let due = try Self.firstDue(grid, now)
        if rules.grace != nil {
            let due = grid.expected(after: now.wall)
            return UpcomingFires(grid, from: due, now, count: Int64(count))
        }
        return UpcomingFires(grid, from: due, now, count: min(Int64(count), rules.maxFires ?? .max))
    }

    /// Refuses a definition whose schedule could never fire, activated at `now`.
    public func checkPlan(_ definition: Span<UInt8>, _ now: Now) throws(TimerRefusal) {
        _ = try Self.firstDue(Grid(rules(definition, now), book), now)
    }

    /// Returns the first due instant of a timer activated at `now`; throws when there is none, or none within
    /// `until`.
    static func firstDue(_ grid: borrowing Grid, _ now: Now) throws(TimerRefusal) -> Int64 {
        if let zone = grid.rules.schedule.zone, grid.zone == nil {
            let name = String(decoding: zone, as: UTF8.self)
            throw .invalidSchedule(pointer: "/timeZone", reason: "there is no time zone `\(name)`")
        }
        if let calendar = grid.rules.calendar, grid.shape == nil {
            throw .noCalendar(calendar.name)
        }
        guard let due = grid.first(activatedAt: now) else {
            if grid.rules.grace != nil, grid.expected(after: now.wall) != nil {
                throw .invalidSchedule(
                    pointer: "/misses",
                    reason: "the schedule has not so many instants, or not within 36525 days of the first")
            }
            guard grid.shape == nil else {
                throw .invalidSchedule(
                    pointer: "/calendar", reason: "the calendar leaves no instant of the schedule up to the year 9999")
            }
            guard case .recurrence = grid.rules.schedule.awaited else {
                throw .invalidSchedule(pointer: "/cron", reason: "no fire is due up to the year 9999")
            }
            throw .invalidSchedule(pointer: "/rrule", reason: "no instant is left")
        }
        let fireDue = grid.rules.grace.map { now.due(ofWall: due, on: grid.rules.clock) + $0 } ?? due
        guard fireDue <= grid.rules.lastDue(now) else {
            throw .invalidSchedule(pointer: "/until", reason: "no fire is due at or before `until`")
        }
        return due
    }
}
