public import TimerCore
import TimerLog

/// Calendars: what requests do with them. An answer waits for `head`, as that of any change.
extension Turn {
    /// All calendars.
    public var calendars: CalendarTable { engine.calendars }

    /// Makes a calendar, or replaces it. A content that the calendar has already makes no record.
    ///
    /// - Parameters:
    ///   - condition: a condition that must hold for the calendar.
    ///   - unwanted: a condition; a calendar that it holds for is left as it is, and the request refused.
    ///   - made: the opening hours of `content`.
    /// - Returns: the calendar, and whether it is new.
    public func putCalendar(
        _ name: CalendarName, _ content: CalendarContent, made: OpenHours? = nil, if condition: VersionCondition,
        unless unwanted: VersionCondition
    ) throws(ServiceError) -> (calendar: NamedCalendar, isNew: Bool) {
        let before = engine.calendars[name]
        try check(before, if: condition, unless: unwanted)
        try checkAvailable()
        if let before, before.content == content { return (before, false) }
        if before == nil, engine.calendars.count >= CalendarTable.most { throw .calendarRefused(.isFull) }
        let calendar = NamedCalendar(
            name: name, content: content, version: engine.version(after: before), updatedAt: now.wall,
            changedBy: engine.actor)
        return (try record(calendar, after: before, made: made), before == nil)
    }

    /// Records a calendar that follows another one, if there was one. Timers that the other one planned are planned
    /// again.
    private func record(
        _ calendar: NamedCalendar, after before: NamedCalendar?, made: OpenHours? = nil
    ) throws(ServiceError) -> NamedCalendar {
        let growth = calendar.content.bytes.count - (before?.content.bytes.count ?? 0)
        guard growth <= 0 || engine.calendars.byteCount + growth <= CalendarTable.mostBytes else {
            throw .calendarRefused(.isFull)
        }
        // The calendar may still have to be recorded with the data of its zone.
        let before = before.map { engine.scheduler.rezoned($0, now) ?? $0 }
        engine.staleCalendars.removeAll { $0 == calendar.name }
        var calendar = before.map { calendar.following($0, at: now.wall) } ?? calendar
        calendar.zone = engine.zones.zone(named: calendar.content.zone).map { ZoneData($0, around: now.wall) }
        if engine.scheduler.timers(by: calendar.name) == 0 { calendar.past = [] }
        guard calendar.past.count <= NamedCalendar.mostPast else { throw .calendarRefused(.isChanging) }
        engine.record(calendar, made: calendar.past.isEmpty ? nil : made)
        return calendar
    }

    /// Deletes a calendar, unless timers go by it that have not ended.
    public func deleteCalendar(_ name: CalendarName, if condition: VersionCondition) throws(ServiceError) {
        guard let calendar = engine.calendars[name] else { throw .calendarRefused(.notFound) }
        let timers = engine.scheduler.timers(by: name)
        guard timers == 0 else { throw .calendarRefused(.inUse(timers: timers)) }
        try check(calendar, if: condition, unless: .none)
        try checkAvailable()
        engine.recordDeletion(of: calendar, now)
    }

    private func check(
        _ calendar: NamedCalendar?, if condition: VersionCondition, unless unwanted: VersionCondition
    ) throws(ServiceError) {
        if let calendar {
            let isMet = condition == .none || condition.names(calendar.version)
            if isMet && !unwanted.names(calendar.version) { return }
        } else if condition == .none {
            return
        }
        throw .calendarRefused(.versionMismatch(current: calendar?.version))
    }

    /// Takes a calendar over as it was on another server, at a version that is above all that the name has had here
    /// and there.
    ///
    /// - Returns: whether it was taken, now or before; false where the one that is here stays.
    public func takeCalendar(_ calendar: NamedCalendar, _ policy: ConflictPolicy) throws(ServiceError) -> Bool {
        try checkAvailable()
        guard var taken = try takenCalendar(calendar, policy) else { return false }
        if taken.version > engine.calendars[calendar.name]?.version ?? 0 {
            taken.changedBy = engine.actor
            _ = try record(taken, after: engine.calendars[calendar.name])
        }
        return true
    }

    /// Judges what `takeCalendar` would do now, and does nothing. Returns the calendar as it would be, nil where
    /// another one stays. One with the same content is the same: a part of an import may come twice.
    public func takenCalendar(
        _ calendar: NamedCalendar, _ policy: ConflictPolicy
    ) throws(ServiceError) -> NamedCalendar? {
        var taken = calendar
        guard let here = engine.calendars[calendar.name] else {
            taken.version = max(calendar.version, engine.version(after: nil))
            return taken
        }
        if here.content == calendar.content {
            taken.version = max(calendar.version, here.version)
            return taken
        }
        switch policy {
        case .fail: throw .calendarRefused(.exists)
        case .skip: return nil
        case .replace: taken.version = max(calendar.version, engine.version(after: here))
        }
        return taken
    }
}
