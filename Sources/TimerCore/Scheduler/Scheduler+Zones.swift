/// Cron timers after a restart: the data of their time zones may differ from those that their instants were planned by.
extension Scheduler {
    /// Where the cron timers are.
    public func cronTimers() -> [SlotIndex] {
        (0..<table.slotCount).lazy.map { SlotIndex($0) }.filter { isCron($0) }
    }

    private func isCron(_ slot: SlotIndex) -> Bool { table[slot].inUse && table[slot].traits.contains(.cron) }

    /// A time zone that one of `timers` names and that is not known; nil when all are.
    public func missingZone(of timers: ArraySlice<SlotIndex>) -> [UInt8]? {
        for slot in timers {
            guard case .cron(let cron) = rules(slot).schedule else { continue }
            if zones.zone(named: cron.zone) == nil { return cron.zone }
        }
        return nil
    }

    /// Plans each of `timers` anew for which the data of its zone give another instant than is recorded. Slots that
    /// were freed since, or taken by timers without cron, are passed over.
    ///
    /// - Returns: how many there were.
    public mutating func replanCron(_ timers: ArraySlice<SlotIndex>, _ now: Now, _ effects: inout [Effect]) -> Int {
        var replanned = 0
        for slot in timers {
            guard isCron(slot), let due = cronDue(slot), due != table[slot].due else { continue }
            var step = begin(slot, now)
            step.progress.due = due
            step.emit(.rescheduled, &effects)
            commit(step, &effects, isFire: true)
            replanned += 1
        }
        return replanned
    }

    /// The due instant of a waiting cron timer by the zone's data as they are: the first after all that is known of its
    /// past. Nil where the recorded one stands: it is an instant of the schedule by these data too, or it had come
    /// already, or a client had moved it.
    private func cronDue(_ slot: SlotIndex) -> Int64? {
        let progress = table.progress(slot)
        let known = max(progress.updatedAt, progress.lastFiredAt)
        guard progress.state == .running || progress.state == .suspended, !progress.flags.contains(.moved),
            progress.due > known
        else { return nil }
        let grid = Grid(rules(slot), zones: zones)
        guard case .cron(let cron) = grid.rules.schedule, let zone = grid.zone else { return nil }
        // What is known of the past may lie before instants that were passed already: the calendar may have been set back.
        if cron.next(after: progress.due - 1, in: zone) == progress.due { return nil }
        return cron.next(after: known, in: zone)
    }
}
