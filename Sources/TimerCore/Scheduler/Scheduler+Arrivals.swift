/// Timers that come from another server, as they were there.
extension Scheduler {
    /// The most milliseconds by which a timer may be overdue when it comes without a misfire.
    private static let stallThreshold: Int64 = 1000

    /// Makes a timer that comes from another server.
    ///
    /// - Parameters:
    ///   - key: the key of the same id.
    ///   - definition: the encoded definition, into which the instant at which the timer was made is written.
    public mutating func place(
        _ key: borrowing TimerKey, definition: inout [UInt8], _ arrival: TimerArrival, _ now: Now,
        _ effects: inout [Effect]
    ) throws(TimerRefusal) -> SlotIndex {
        if table.find(key) != nil { throw .exists }
        guard table.count < maximumTimers else { throw .timerLimit(maximumTimers) }
        Definition.setStart(now.wall, in: &definition)
        Definition.setCreatedAt(arrival.createdAt, in: &definition)
        let slot = table.insert(key, definition: definition.span, progress: TimerProgress())
        take(slot, arrival, above: versionFloor, .created, now, &effects)
        return slot
    }

    /// Refuses a timer whose calendar is not there, unless the timer has ended.
    public func checkCalendar(of definition: Span<UInt8>, _ arrival: TimerArrival) throws(TimerRefusal) {
        guard let name = Definition.calendarName(definition), book.table[name] == nil else { return }
        if !arrival.progress.state.hasEnded { throw .noCalendar(name) }
    }

    /// Replaces a timer's definition and progress by the imported ones; the deliveries that it owes to its webhook
    /// stay.
    public mutating func replaceImported(
        _ slot: SlotIndex, definition: inout [UInt8], _ arrival: TimerArrival, _ now: Now, _ effects: inout [Effect]
    ) {
        Definition.setStart(now.wall, in: &definition)
        redefine(slot, &definition)
        disarm(slot)
        if !held.isEmpty { held[slot] = nil }
        // A line that comes twice with one version is of one state.
        let isSame = arrival.progress.version == table[slot].version
        take(slot, arrival, above: table[slot].version - (isSame ? 1 : 0), .updated, now, &effects)
    }

    private mutating func take(
        _ slot: SlotIndex, _ arrival: TimerArrival, above version: Int64, _ type: EventType, _ now: Now,
        _ effects: inout [Effect]
    ) {
        var (progress, kicks) = arrival.arrived(rules(slot), at: now)
        let grid = Grid(rules(slot), book, progress)
        let clock = progress.dueClock(grid.rules.clock)
        progress.edition = grid.shape?.edition ?? 0
        progress.version = max(progress.version, max(version, lostVersions) + 1)
        table.setProgress(slot, progress)
        table.setKicks(slot, kicks)
        table.setPlannedPast(slot, progress.isPlanned && wasPlannedPast(slot, clock, now))
        if progress.isPlanned, now.milliseconds(on: clock) - progress.due > Self.stallThreshold {
            late[slot] = now.milliseconds(on: clock)
        } else if !late.isEmpty {
            late[slot] = nil
        }
        arm(slot, grid, now)
        effects.append(
            Effect(
                type: type, reason: .imported, at: now.wall, slot: slot, progress: progress, kicks: kicks,
                nextFireAt: progress.nextFireAt(grid.rules, now)))
    }

    /// Returns the instant on `clock` up to which due instants of the timer at `slot` misfire.
    func misfires(_ slot: SlotIndex, on clock: TimerClock) -> Int64 {
        guard !late.isEmpty, let end = late[slot] else { return misfireUntil[clock] }
        return max(misfireUntil[clock], end)
    }

    /// Returns the instant at which the timer at `slot` was made, in wall milliseconds.
    public func createdAt(_ slot: SlotIndex) -> Int64 { withDefinition(slot, Definition.createdAt) }

    /// Takes over a delivery that comes from another server, whose record is at `position`, its id.
    ///
    /// - Parameters:
    ///   - detail: the delivery's state, with instants on the wall clock; its slot is nil if it belongs to no
    ///     timer.
    ///   - definition: the definition of its timer.
    public mutating func takeDelivery(
        _ detail: DeliveryDetail, definition: Span<UInt8>, position: Int64, _ now: Now
    ) {
        foldDelivery(
            detail, definition: definition, progress: (TimerProgress(), nil), position: position,
            wallOffset: now.wallOffset)
        bringUp(detail.id, restsOn: position)
    }

    /// Makes a delivery ready if it may be attempted once the record at `position` is durable.
    private mutating func bringUp(_ id: Int64, restsOn position: Int64) {
        guard let place = deliveries.pending.find(id, deliveries.slots), deliveries.slots[place].state == .pending,
            isOldest(place)
        else { return }
        deliveries.ready.append(ReadyDelivery(id: id, restsOn: position))
    }
}
