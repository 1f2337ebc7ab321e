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
            if table[slot].wheelBuild != wallBuild { arm(slot, Grid(rules(slot), zones: zones), now) }
        }
        rebuildFrom = end == table.slotCount ? nil : SlotIndex(end)
        return rebuildFrom == nil
    }
}
