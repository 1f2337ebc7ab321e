/// Timers with time zones after a restart: the data of a zone may differ from those by which a timer's instants
/// were planned.
extension Scheduler {
    /// Returns the slots of the timers whose schedules name a time zone.
    public func zonedTimers() -> [SlotIndex] {
        (0..<table.slotCount).lazy.map { SlotIndex($0) }.filter { isZoned($0) }
    }

    /// Returns a timer's rules for a glimpse. The end of a recurrence is not looked for, so that most questions to it cost as much
    /// as that.
    private func glimpsedRules(_ slot: SlotIndex) -> TimerRules {
        guard table[slot].traits.contains(.rule) else { return rules(slot) }
        return withDefinition(slot) { Definition.checkedRules($0) }
    }

    private func isZoned(_ slot: SlotIndex) -> Bool { table[slot].inUse && table[slot].traits.contains(.zoned) }

    /// Returns a time zone that one of `timers`, or its calendar, names and that is not known; nil when all are.
    public func missingZone(of timers: ArraySlice<SlotIndex>) -> [UInt8]? {
        for slot in timers {
            let rules = glimpsedRules(slot)
            for zone in [rules.schedule.zone, rules.calendar.flatMap { book.zone(of: $0.name) }] {
                if let zone, zones.zone(named: zone) == nil { return zone }
            }
        }
        return nil
    }

    /// The calendars whose time zone has other data here than those by which their opening hours are read.
    public var staleCalendars: [CalendarName] { calendars.all.filter { present(zoneOf: $0) != nil }.map(\.name) }

    /// Returns a calendar as it is from now on, by the present data of its time zone; nil where it has those.
    public func rezoned(_ calendar: NamedCalendar, _ now: Now) -> NamedCalendar? {
        guard let zone = present(zoneOf: calendar) else { return nil }
        var calendar = calendar.rezoned(ZoneData(zone, around: now.wall), at: now.wall)
        if timers(by: calendar.name) == 0 { calendar.past = [] }
        return calendar
    }

    /// Returns the present data of a calendar's time zone, where those of the calendar are others.
    private func present(zoneOf calendar: NamedCalendar) -> TimeZoneTable? {
        guard let data = calendar.zone, let zone = zones.zone(named: calendar.content.zone) else { return nil }
        return data.isData(of: zone) ? nil : zone
    }

    /// Replans those of `timers` whose zone's data give another instant than the recorded one. Slots that were freed
    /// since, or taken by timers without a time zone, are skipped.
    ///
    /// - Returns: how many timers were planned again.
    public mutating func replanZoned(_ timers: ArraySlice<SlotIndex>, _ now: Now, _ effects: inout [Effect]) -> Int {
        var replanned = 0
        for slot in timers {
            guard isZoned(slot) else { continue }
            if replan(slot, now, &effects) {
                replanned += 1
                continue
            }
            let (rules, progress) = (glimpsedRules(slot), table.progress(slot))
            // The zone of a calendar is looked at with the calendar. By a calendar, an instant that has come is due as
            // it was: the opening hours may have changed since.
            guard rules.schedule.namesZone, rules.calendar == nil || progress.due > now.wall else { continue }
            if table[slot].traits.contains(.rule), rules.calendar == nil, Grid(rules, book).names(progress.due) {
                continue
            }
            guard let due = zonedDue(slot, progress, Grid(self.rules(slot), book)), due != progress.due else {
                continue
            }
            var step = begin(slot, now)
            step.progress.due = due
            step.emit(.rescheduled, reason: rules.calendar == nil ? .none : .calendar, &effects)
            commit(step, &effects, isFire: true)
            replanned += 1
        }
        return replanned
    }

    /// Returns the due instant of a waiting timer by the zone's present data: the first after its last change or
    /// fire. Nil if the recorded one stays: it is an instant of the schedule by these data too, or it had come
    /// already, or a client had moved it.
    ///
    /// - Parameter progress: the timer's progress, whose last change is that of the table.
    func zonedDue(_ slot: SlotIndex, _ progress: TimerProgress, _ grid: borrowing Grid) -> Int64? {
        let known = max(table[slot].updatedAt, progress.lastFiredAt)
        guard progress.state == .running || progress.state == .suspended,
            progress.flags.isDisjoint(with: [.moved, .ownGrid]), progress.due > known
        else { return nil }
        guard grid.zone != nil || grid.shape != nil, grid.shape?.edition ?? 0 == progress.edition else { return nil }
        // `known` may lie before instants that were passed already: the calendar may have been set back.
        if grid.namesInstants, grid.rules.mode == .fixedRate {
            return grid.expected(after: progress.due - 1) == progress.due ? nil : grid.expected(after: known)
        }
        switch grid.rules.schedule {
        case .at(let instant):
            let moved = grid.shape?.moved(instant)
            return moved == progress.due ? nil : moved
        case .expecting:
            // The grace counts by its own clock, for which no zone matters.
            guard progress.flags.contains(.awaiting), grid.expected(after: progress.due - 1) != progress.due else {
                return nil
            }
            return known == table.kicks(slot).lastKickedAt
                ? grid.awaited(afterKickAt: known) : grid.awaited(after: known)
        default:
            // An instant that is counted from a fire has the local time of that fire.
            let countsFromFire = grid.rules.mode == .fixedDelay && progress.firesSinceActivation > 0
            guard let local = grid.local, !countsFromFire, !local.contains(progress.due) else { return nil }
            return max(local.next(after: known), local.start)
        }
    }
}
