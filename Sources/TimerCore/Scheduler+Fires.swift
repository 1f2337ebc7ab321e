extension Scheduler {
    /// Fires and forgets what is due at `now`.
    ///
    /// - Parameter limit: most timers to touch; further ones wait for the next call.
    /// - Returns: whether everything due was handled.
    public mutating func advance(to now: Now, limit: Int, _ effects: inout [Effect]) -> Bool {
        expired.removeAll(keepingCapacity: true)
        let isRebuilt = continueRebuild(limit: limit)
        // Half is the wall clock's: no flood on one clock keeps the other waiting.
        let share = wallWheel.count == 0 ? limit : limit - limit / 2
        var done = continuousWheel.expire(
            now.milliseconds(on: .continuous), limit: share, into: &expired, armed: table)
        let continuousCount = expired.count
        if expired.count < limit {
            done =
                wallWheel.expire(
                    now.milliseconds(on: .wall), limit: limit - expired.count, into: &expired, armed: table) && done
        } else {
            done = false
        }
        for index in expired.indices {
            let slot = expired[index].slot
            table.disarm(slot)
            if table[slot].progress.state == .running {
                fireDue(
                    slot, misfireUntil: index < continuousCount ? misfireUntil.continuous : misfireUntil.wall, now,
                    &effects)
            } else {
                forget(slot, now, reason: .expired, &effects)
            }
        }
        return done && isRebuilt && !isDue(continuousWheel.nextWake, on: .continuous, now)
            && !isDue(wallWheel.nextWake, on: .wall, now)
    }

    /// Whether a late timer's next instant is due as well.
    private func isDue(_ wake: Int64?, on clock: TimerClock, _ now: Now) -> Bool {
        wake.map { $0 <= now.milliseconds(on: clock) } ?? false
    }

    private mutating func fireDue(_ slot: SlotIndex, misfireUntil: Int64, _ now: Now, _ effects: inout [Effect]) {
        var step = begin(slot, now)
        let due = step.progress.due
        if step.isPast(due) {
            // The calendar was stepped forward, and `until` came before the fire that had fitted.
            step.plan(nil, &effects)
        } else {
            let isMisfire = due <= misfireUntil && !table[slot].plannedPast
            let missedThrough = isMisfire ? min(misfireUntil, step.rules.lastDue(now)) : due
            let last = Self.lastGridPoint(step.rules, from: due, through: missedThrough)
            let missed = step.rules.schedule.period == 0 ? 0 : (last - due) / step.rules.schedule.period
            step.fire(
                isMisfire ? .misfire : .due, due: last, missed: missed,
                next: Self.following(step.rules, last, now), &effects)
        }
        commit(step, isFire: true)
    }

    /// The latest due instant of the grid through `due` that is not after `through`; fixed-delay grids have one point.
    static func lastGridPoint(_ rules: TimerRules, from due: Int64, through: Int64) -> Int64 {
        let period = rules.schedule.period
        guard period > 0, rules.mode == .fixedRate, through > due else { return due }
        return due + (through - due) / period * period
    }

    /// The due instant after the one at `due`, which fires at `now`; nil for a one-shot.
    static func following(_ rules: TimerRules, _ due: Int64, _ now: Now) -> Int64? {
        let period = rules.schedule.period
        guard period > 0 else { return nil }
        return (rules.mode == .fixedRate ? due : now.ceiling(on: rules.clock)) + period
    }

    /// Nominal wall instants, in milliseconds, of the next fires of a timer: none unless it runs.
    public func upcoming(_ slot: SlotIndex, _ now: Now, count: Int) -> [Int64] {
        let progress = table[slot].progress
        guard progress.state == .running else { return [] }
        let rules = rules(slot)
        let left = rules.maxFires.map { $0 - progress.firesSinceActivation } ?? .max
        return Self.upcoming(rules, from: progress.due, now, count: min(Int64(count), left))
    }

    /// Nominal wall instants of the fires a timer of these rules would have, activated at `now`.
    public static func preview(_ rules: TimerRules, _ now: Now, count: Int) throws(TimerRefusal) -> [Int64] {
        let due = try firstDue(rules, now)
        return upcoming(rules, from: due, now, count: min(Int64(count), rules.maxFires ?? .max))
    }

    private static func upcoming(_ rules: TimerRules, from due: Int64, _ now: Now, count: Int64) -> [Int64] {
        var fires: [Int64] = []
        var next: Int64? = due
        while let due = next, Int64(fires.count) < count, due <= rules.lastDue(now) {
            let wall = now.wall(of: due, on: rules.clock)
            guard wall <= lastInstant else { break }
            fires.append(wall)
            next = rules.schedule.period > 0 ? due + rules.schedule.period : nil
        }
        return fires
    }

    /// Refuses a definition whose schedule could never fire, activated at `now`.
    public static func checkPlan(_ definition: Span<UInt8>, _ now: Now) throws(TimerRefusal) {
        guard let rules = Definition.layout(definition)?.rules else {
            preconditionFailure("a definition is encoded by `Definition.encode`")
        }
        _ = try firstDue(rules, now)
    }

    /// The first due instant of a timer activated at `now`; refused when `until` leaves room for none.
    static func firstDue(_ rules: TimerRules, _ now: Now) throws(TimerRefusal) -> Int64 {
        let due = rules.schedule.firstDue(activatedAt: now, on: rules.clock)
        guard due <= rules.lastDue(now) else {
            throw .invalidSchedule(pointer: "/until", reason: "no fire is due at or before `until`")
        }
        return due
    }
}
