/// The time zones that schedules name, and the calendars that timers go by, with the opening hours in the form that
/// answers questions.
///
/// A book is confined to its scheduler.
final class CalendarBook {
    /// The time zones that schedules and calendars name.
    let zones: any ZoneSource
    /// The calendars as they are.
    private(set) var table = CalendarTable()
    /// The opening hours that were asked for, by name and edition: reading them costs in proportion to their dates.
    private var hours: [CalendarName: [UInt8: OpenHours]] = [:]
    /// The shapes of timers that count the working time of a calendar's present edition: all such timers share one.
    private var working: [CalendarName: CalendarShape] = [:]
    /// The calendars that keep past opening hours.
    private var changing: Set<CalendarName> = []
    /// The outcomes of changes under way for schedules that keep their local time: finding one costs in proportion to the days of
    /// a year.
    private var spending: [SpendingKey: SpendingChange] = [:]
    /// The most of them; with one more all are forgotten.
    private static let spendingLimit = 64

    private struct SpendingKey: Hashable {
        let calendar: CalendarName
        let edition: UInt8
        let direction: Int64
        let zone: [UInt8]?
    }

    /// A change of a calendar's opening hours.
    struct Change {
        /// The edition of the hours before it.
        let edition: UInt8
        /// The hours before it.
        let before: OpenHours
        /// The hours after it.
        let after: OpenHours
        /// The instant of the change, in wall milliseconds.
        let instant: Int64
        /// Whether the data of the time zone alone have changed.
        let isOfZone: Bool
    }

    init(_ zones: any ZoneSource) { self.zones = zones }

    /// Whether a calendar may have timers that are planned by its past opening hours.
    var isChanging: Bool { !changing.isEmpty }

    /// Sets the calendar of its name.
    ///
    /// - Parameter made: the opening hours of its present edition, if they were made already.
    func set(_ calendar: NamedCalendar, made: OpenHours? = nil) {
        let name = calendar.name
        spending = [:]
        let kept = Set(calendar.past.map(\.edition))
        let isSame = table[name]?.edition == calendar.edition
        hours[name] = hours[name]?.filter { $0.key == calendar.edition ? isSame : kept.contains($0.key) }
        working[name] = nil
        if let made { hours[name, default: [:]][calendar.edition] = made }
        table.set(calendar)
        if calendar.past.isEmpty { changing.remove(name) } else { changing.insert(name) }
    }

    /// Removes the calendar of a name, if there is one.
    func remove(_ name: CalendarName) {
        table.remove(name)
        spending = [:]
        hours[name] = nil
        working[name] = nil
        changing.remove(name)
    }

    /// Forgets the past opening hours: every timer is planned by the present ones.
    func forgetPast() {
        for name in changing {
            guard var calendar = table[name] else { continue }
            calendar.past = []
            set(calendar)
        }
        changing = []
    }

    /// Returns the name of a calendar's time zone; nil if there is no such calendar.
    func zone(of name: CalendarName) -> [UInt8]? { table[name]?.content.zone }

    /// Returns the opening hours by which a timer of these rules is planned; nil if it goes by no calendar, there is no
    /// such calendar, or its zone is not known.
    ///
    /// - Parameter zone: the zone that the schedule names; nil for none.
    func shape(_ rules: TimerRules, in zone: TimeZoneTable?) -> CalendarShape? {
        guard let calendar = rules.calendar else { return nil }
        if rules.clock == .working, let shape = working[calendar.name] { return shape }
        guard let present = table[calendar.name],
            let hours = hours(calendar.name, present.edition, present.content.hours, present.zone)
        else { return nil }
        let shape = CalendarShape(rules, calendar.onClosed, hours, edition: present.edition, in: zone)
        if rules.clock == .working { working[calendar.name] = shape }
        return shape
    }

    /// Returns the changes of a calendar after an edition, the oldest first. An edition that is not kept is one since
    /// which the changes that are not kept moved nothing.
    func changes(of name: CalendarName, since edition: UInt8) -> [Change] {
        guard let calendar = table[name], calendar.edition != edition,
            let present = hours(name, calendar.edition, calendar.content.hours, calendar.zone)
        else { return [] }
        let start = calendar.past.firstIndex { $0.edition == edition } ?? 0
        var found: [Change] = []
        var after = (hours: present, encoded: calendar.content.hours)
        for before in calendar.past[start...].reversed() {
            guard let hours = hours(name, before.edition, before.hours, before.zone) else { continue }
            let isOfZone = before.hours == after.encoded
            found.append(
                Change(
                    edition: before.edition, before: hours, after: after.hours, instant: before.until,
                    isOfZone: isOfZone))
            after = (hours, before.hours)
        }
        return found.reversed()
    }

    /// Returns what a change of a timer's calendar has moved over its instant; nil where no instant of the timer's schedule
    /// can pass another by it.
    ///
    /// - Parameter grid: the timer's due instants, with the zone that its schedule names.
    func spending(_ grid: borrowing Grid, by change: Change) -> SpendingChange? {
        let rules = grid.rules
        guard let calendar = rules.calendar, let direction = calendar.onClosed.direction, rules.grace == nil,
            rules.mode == .fixedRate, !change.isOfZone
        else { return nil }
        let zone = grid.zone
        let key = SpendingKey(
            calendar: calendar.name, edition: change.edition, direction: direction,
            zone: zone == nil ? nil : rules.schedule.zone)
        if let known = spending[key] { return known }
        if spending.count == Self.spendingLimit { spending = [:] }
        let found = SpendingChange(
            at: change.instant, direction, from: DayWalk(hours: change.before, zone: zone ?? change.before.zone),
            to: DayWalk(hours: change.after, zone: zone ?? change.after.zone))
        spending[key] = found
        return found
    }

    private func hours(
        _ name: CalendarName, _ edition: UInt8, _ encoded: @autoclosure () -> [UInt8], _ data: ZoneData?
    ) -> OpenHours? {
        if let known = hours[name]?[edition] { return known }
        let bytes = encoded()
        guard let definition = CalendarDefinition(decoding: bytes.span), let here = zones.zone(named: definition.zone)
        else { return nil }
        let zone = data.map { $0.isData(of: here) ? here : $0.table } ?? here
        let made = OpenHours(definition, in: zone)
        hours[name, default: [:]][edition] = made
        return made
    }
}
