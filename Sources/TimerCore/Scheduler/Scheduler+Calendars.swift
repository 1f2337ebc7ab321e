/// Calendars, and the timers that go by them.
///
/// A change of a calendar is in force at once: a timer that is planned by an earlier edition is planned again before it
/// fires, and with each command. The others are looked at in pieces, as time passes.
extension Scheduler {
    /// The calendars as they are.
    public var calendars: CalendarTable { book.table }

    /// Returns how many timers go by a calendar and have not ended.
    public func timers(by calendar: CalendarName) -> Int { table.uses(of: calendar) }

    /// Sets the calendar of its name.
    ///
    /// - Parameter made: the opening hours of its present edition, where they were made outside of a lock.
    public mutating func set(_ calendar: NamedCalendar, made: OpenHours? = nil) {
        book.set(calendar, made: made)
        if !calendar.past.isEmpty { replanFrom = 0 }
    }

    /// Removes the calendar of a name, if there is one.
    public mutating func removeCalendar(_ name: CalendarName) { book.remove(name) }

    /// Returns the milliseconds of working time that a running timer has left; nil for a timer
    /// that counts no working time, or has no fire planned.
    public func workingLeft(_ slot: SlotIndex, _ now: Now) -> Int64? {
        guard table[slot].traits.clock == .working, table[slot].isPlanned, table[slot].due < Grid.never else {
            return nil
        }
        let step = begin(slot, now)
        return step.grid.shape == nil ? nil : step.grid.millisecondsLeft(until: step.progress.due, at: now)
    }

    /// Returns a timer's progress, as planned by the present edition of its calendar.
    public func presentProgress(_ slot: SlotIndex) -> TimerProgress {
        var progress = table.progress(slot)
        if mayNeedReplanning(slot) { _ = presentGrid(slot, &progress) }
        return progress
    }

    /// Whether the timer at `slot` may be planned by an earlier edition of its calendar. Asked before its rules are read, which
    /// costs as much as the rest of an entry of a list.
    private func mayNeedReplanning(_ slot: SlotIndex) -> Bool {
        replanFrom != nil && table[slot].traits.contains(.calendar)
    }

    /// Returns a timer's due instants, and plans its progress by the present edition of its calendar.
    func presentGrid(_ slot: SlotIndex, _ progress: inout TimerProgress) -> Grid {
        var grid = Grid(rules(slot), book, progress)
        if mayNeedReplanning(slot) { replan(&progress, of: slot, &grid) }
        return grid
    }

    /// Plans the timer at `slot` again if it is planned by an earlier edition of its calendar. Returns whether it was
    /// recorded, and so armed.
    @discardableResult
    mutating func replan(_ slot: SlotIndex, _ now: Now, _ effects: inout [Effect]) -> Bool {
        guard mayNeedReplanning(slot), table[slot].inUse else { return false }
        let grid = Grid(rules(slot), book)
        let (due, edition) = (table[slot].due, table[slot].edition)
        guard let shape = grid.shape, edition != shape.edition else { return false }
        var step = begin(slot, now)
        // The log would take a timer whose record is very old for one of the present edition.
        let isRecorded = shape.edition / Self.recordedEvery != edition / Self.recordedEvery
        guard step.progress.due != due || step.spends || (isRecorded && !step.progress.state.hasEnded) else {
            table.setEdition(slot, shape.edition)
            return false
        }
        if held[slot] == due { held[slot] = step.progress.due }
        let isShown = step.progress.due != due && step.progress.state == .running
        step.emit(isShown ? .rescheduled : nil, reason: isShown ? .calendar : .none, &effects)
        commit(step, &effects)
        return true
    }

    /// The editions after which each timer is recorded again even where it does not move.
    private static var recordedEvery: UInt8 { 64 }

    /// The slots of timers without a calendar that are passed at the cost of a fire.
    private static var slotsPerFire: Int { 16 }
    /// The fires at whose cost a timer is planned again.
    private static var firesPerTimer: Int { 4 }

    /// Plans timers of changed calendars again, at the cost of at most `limit` fires. Returns whether all are.
    public mutating func continueReplanning(limit: Int, _ now: Now, _ effects: inout [Effect]) -> Bool {
        guard let start = replanFrom else { return true }
        var budget = limit * Self.slotsPerFire
        var slot = Int(start)
        while slot < table.slotCount, budget > 0 {
            let usesCalendar = table[SlotIndex(slot)].traits.contains(.calendar)
            budget -= usesCalendar ? Self.firesPerTimer * Self.slotsPerFire * table.weight(SlotIndex(slot)) : 1
            if usesCalendar { replan(SlotIndex(slot), now, &effects) }
            slot += 1
        }
        guard slot == table.slotCount else {
            replanFrom = SlotIndex(slot)
            return false
        }
        replanFrom = nil
        book.forgetPast()
        return true
    }

    /// The outcome of planning a fire by other opening hours.
    struct Replanned {
        /// The instant of the last change that the fire was planned by; nil where none was.
        var at: Int64?
        /// Whether instants of the schedule are spent that were not.
        var spends = false
    }

    /// Plans the next fire of the timer at `slot` by the present opening hours, as far as `progress` was planned by earlier
    /// ones, and takes instants out of `grid` that came by those and would come again.
    @discardableResult
    func replan(_ progress: inout TimerProgress, of slot: SlotIndex, _ grid: inout Grid) -> Replanned {
        var replanned = Replanned()
        guard let calendar = grid.rules.calendar, let shape = grid.shape, shape.edition != progress.edition else {
            return replanned
        }
        let changes = book.changes(of: calendar.name, since: progress.edition)
        progress.edition = shape.edition
        let isDue = progress.state == .running || progress.state == .suspended
        let keepsTime = progress.state == .suspended && grid.rules.effectiveResume == .remaining
        let isWatchdog = grid.rules.schedule.kind == .watchdog
        let isPlannedByHours =
            isDue && !keepsTime && (!progress.flags.contains(.moved) || grid.rules.clock == .working)
            && (!isWatchdog || progress.flags.contains(.awaiting))
        for change in changes {
            let spent = grid.rules.calendar?.spent ?? calendar.spent
            if progress.state != .idle, let instants = grid.shape?.instants?.source,
                let spent = book.spending(grid, by: change)?.spent(of: instants, spent)
            {
                grid.spend(spent)
                replanned.spends = true
            }
            // An instant that had come by then is due as it was.
            guard isPlannedByHours, progress.due > change.instant else { continue }
            replanned.at = change.instant
            if change.isOfZone && grid.rules.clock != .working {
                // The timer's own zone may have changed too.
                progress.due = zonedDue(slot, progress, grid) ?? progress.due
            } else {
                progress.due = grid.due(progress, by: change) ?? Grid.never
            }
        }
        return replanned
    }
}

extension Grid {
    /// The instants that are looked at for one that has not fired.
    private static let lookLimit = 64

    /// Returns the due instant by changed opening hours; nil if there is none.
    ///
    /// - Parameter progress: the timer's progress by the hours before.
    fileprivate func due(_ progress: TimerProgress, by change: CalendarBook.Change) -> Int64? {
        let due = progress.due
        if rules.clock == .working {
            return change.after.end(
                of: change.before.left(until: due, from: change.instant), from: change.instant)
        }
        let old = Grid(self, by: change.before)
        let new = Grid(self, by: change.after)
        if case .at(let instant) = rules.schedule { return new.shape?.moved(instant) }
        if rules.grace != nil {
            // The watchdog awaits as many instants as were left by the old hours.
            let isNever = due == Grid.never
            let left = isNever ? rules.misses : old.expected(after: change.instant, through: due)?.count ?? 1
            return Grid(self, by: change.after, misses: left).awaited(after: change.instant)
        }
        let anchor = old.anchor(of: progress)
        func instants(_ grid: borrowing Grid) -> ShapedSchedule<ScheduleInstants>? {
            anchor.map { grid.shape?.goingOn(after: $0) } ?? grid.shape?.instants
        }
        guard let before = instants(old), let after = instants(new) else { return nil }
        // The instants that were due then are due still, wherever they are now.
        let moved = before.nominals(of: due).compactMap { after.moved($0) }.min()
        // The last one of several that passed already is due.
        let planned = moved.map { moved in
            moved > change.instant ? moved : after.last(after: moved - 1, through: change.instant) ?? moved
        }
        var next = after.next(after: change.instant)
        for _ in 0..<Self.lookLimit {
            guard let found = next, found < planned ?? .max else { return planned ?? next }
            // A nominal instant that came before `due` by the old hours has fired. The order of moves by `next` is that of
            // the instants, so that no later one has.
            if after.nominals(of: found).contains(where: { before.moved($0) ?? .max >= due }) { return found }
            next = after.next(after: found)
        }
        return planned ?? next
    }

    /// Returns the instant after which the grid that planned a timer goes on: with a fixed delay mostly its last fire. Nil for
    /// the grid of the schedule itself.
    private func anchor(of progress: TimerProgress) -> Int64? {
        guard rules.mode == .fixedDelay, case .every(let period, _) = rules.schedule else { return nil }
        // The instant of a fire is rounded down where it is kept, and up where a period begins with it.
        let places = [progress.lastFiredAt, progress.lastFiredAt + 1, progress.due - period]
        return places.first { shape?.goingOn(after: $0)?.nominals(of: progress.due).isEmpty == false }
    }
}
