/// Declarations: definitions that clients send again and again, most of which change nothing.
extension Scheduler {
    /// Changes the timer at `slot` to what its client declares, the whole of `definition`.
    ///
    /// Differences are applied as by `amend`. Another kind, or another schedule of a timer that has ended, replaces
    /// the timer; one that was idle or suspended stays so, and one that was running runs whatever `start` is.
    ///
    /// - Parameter startsWebhook: whether a webhook that its receiver stopped takes deliveries again.
    /// - Returns: whether anything changed at all.
    public mutating func declare(
        _ slot: SlotIndex, definition: inout [UInt8], startsWebhook: Bool = false, _ now: Now,
        _ effects: inout [Effect]
    ) throws(TimerRefusal) -> Bool {
        if holds(slot, definition.span) { return false }
        guard replaces(slot, rules(definition.span, now)) else {
            return try amend(
                slot, definition: &definition, startsWebhook: startsWebhook, now, if: .none, &effects)
        }
        let state = table[slot].state
        try replace(slot, definition: &definition, keeping: state.hasEnded ? nil : state, now, if: .none, &effects)
        return true
    }

    /// Refuses what `declare`, or `create` where `slot` is nil, would refuse, and changes nothing.
    public func checkDeclaration(
        _ slot: SlotIndex?, _ definition: Span<UInt8>, _ now: Now
    ) throws(TimerRefusal) {
        guard let slot else {
            try checkPlan(definition, now)
            guard count < maximumTimers else { throw .timerLimit(maximumTimers) }
            return
        }
        if holds(slot, definition) { return }
        let new = rules(definition, now)
        if replaces(slot, new) { return try checkPlan(definition, now) }
        _ = try Self.amendedDue(Grid(new, book), begin(slot, now))
    }

    /// Whether `new` rules can't be applied in place, so that they replace the timer.
    private func replaces(_ slot: SlotIndex, _ new: TimerRules) -> Bool {
        let old = rules(slot)
        if new.schedule.kind != old.schedule.kind { return true }
        return table[slot].state.hasEnded
            && !(new.plansLike(old) && new.schedule.expression == old.schedule.expression)
    }
}
