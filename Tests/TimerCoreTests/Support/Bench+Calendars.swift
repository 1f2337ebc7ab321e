@testable import TimerCore

// Calendars of a bench. Instants are in UTC.
extension Bench {
    private static let name = "office"

    /// Makes a bench at an instant, with a calendar `office` that is open from Monday to Friday, 09:00 to 17:00.
    convenience init(officeAt start: String, zone: String = "UTC", week: Days = ["mon-fri": ["09:00-17:00"]]) throws {
        self.init(zones: FileZones())
        begin(at: try ZoneFiles.instant(start))
        try open(week, zone: zone)
    }

    /// The rule of the calendar `office`.
    static func office(_ policy: ClosedPolicy = .skip) throws -> CalendarRule {
        CalendarRule(try name(Self.name), onClosed: policy)
    }

    static func name(_ text: String) throws -> CalendarName {
        guard let name = CalendarName(text.utf8) else { throw CalendarError([], "no name") }
        return name
    }

    /// Sets a calendar to these hours, now.
    func open(_ week: Days, dates: Days = [:], zone: String = "UTC", name: String = Bench.name) throws {
        let definition = try CalendarDefinition(zone, week: week, dates: dates)
        let before = scheduler.calendars[try Self.name(name)]
        let calendar = NamedCalendar(
            name: try Self.name(name), content: CalendarContent(definition, week: [], dates: []),
            version: (before?.version ?? 0) + 1, updatedAt: now.wall)
        scheduler.set(before.map { calendar.following($0, at: now.wall) } ?? calendar)
    }

    /// Passes time up to an instant, an hour at a time, and returns the effects.
    func advance(through end: String) throws -> [Effect] {
        var found: [Effect] = []
        let end = try ZoneFiles.instant(end)
        while now.wall < end {
            advance(min(3_600_000, end - now.wall))
            found += effects
        }
        return found
    }

    /// The nominal instants of the fires up to an instant.
    func fires(through end: String) throws -> [String] {
        try advance(through: end).compactMap(\.fire).map { ZoneFiles.text($0.scheduledAt) }
    }

    /// The instant at which the next fire is planned.
    func nextFire(_ id: String = "t") throws -> String {
        let progress = try progress(id)
        return progress.nextFireAt(try rules(id), now).map { ZoneFiles.text($0) } ?? "none"
    }

    /// The hours of working time that a running timer has left.
    func hoursLeft(_ id: String = "t") throws -> Double? {
        scheduler.workingLeft(try slot(id), now).map { Double($0) / 3_600_000 }
    }
}
