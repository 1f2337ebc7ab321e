import TestSupport

@testable import TimerCore

/// Days with their intervals, as a test writes them.
typealias Days = KeyValuePairs<String, [String]>

extension CalendarDefinition {
    /// Reads a calendar whose zone is one of this machine's.
    init(_ zone: String = "UTC", week: Days, dates: Days = [:]) throws(CalendarError) {
        func entries(_ days: Days) -> [Entry] { days.map { (Array($0.utf8), $1.map { Array($0.utf8) }) } }
        try self.init(zone: Array(zone.utf8), week: entries(week), dates: entries(dates))
    }
}

extension OpenHours {
    convenience init(_ zone: String = "UTC", week: Days, dates: Days = [:]) throws {
        self.init(try CalendarDefinition(zone, week: week, dates: dates), in: try ZoneFiles.zone(zone))
    }

    /// The intervals of open time as text: `2026-03-29T01:00Z 2026-03-29T02:00Z`.
    func open(from start: String, until end: String, limit: Int = 1000) throws -> [String] {
        let found = open(from: try ZoneFiles.instant(start), until: try ZoneFiles.instant(end), limit: limit)
        let next = found.next.map { ["then " + ZoneFiles.text($0)] } ?? []
        return found.intervals.map { ZoneFiles.text($0.lowerBound) + " " + ZoneFiles.text($0.upperBound) } + next
    }

    /// Hours of a random calendar, of which an hour or more is open in each week.
    static func random(_ random: inout SeededGenerator, in zone: TimeZoneTable, near day: Int64) -> OpenHours {
        func intervals(_ random: inout SeededGenerator) -> [CalendarDefinition.Interval] {
            var found: [CalendarDefinition.Interval] = []
            var start = random.number(0...30_000)
            while start < CronExpression.day && !random.chance(oneIn: 3) {
                let end = start + random.number(1...40_000)
                found.append(CalendarDefinition.Interval(start: start, end: end))
                start = end + random.number(1...20_000)
            }
            return found
        }
        var week = (0..<7).map { _ in intervals(&random) }
        week[Int(random.number(0...6))] = [CalendarDefinition.Interval(start: 7200, end: 10_800)]
        let days = Set((0..<random.number(0...20)).map { _ in day + random.number(-30...30) })
        let dates = days.sorted().map { CalendarDefinition.Date(day: $0, intervals: intervals(&random)) }
        return OpenHours(CalendarDefinition(zone: Array("UTC".utf8), week: week, dates: dates), in: zone)
    }
}
