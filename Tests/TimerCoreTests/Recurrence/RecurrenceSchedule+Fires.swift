@testable import TimerCore

extension RecurrenceSchedule {
    /// Makes a schedule; instants are text such as `2026-03-29T01:00Z`.
    init(_ rule: String, from: String, rdates: [String] = [], exdates: [String] = []) throws {
        try self.init(
            Array(rule.utf8), zone: Array("UTC".utf8), from: try ZoneFiles.instant(from),
            rdates: try rdates.map(ZoneFiles.instant), exdates: try exdates.map(ZoneFiles.instant))
    }

    /// The first `count` instants, as text.
    func fires(after start: String = "0001-01-01T00:00Z", in zone: TimeZoneTable = .utc, count: Int) throws -> [String]
    {
        fires(after: try ZoneFiles.instant(start), in: zone, count: count).map(ZoneFiles.text)
    }

    func fires(after start: Int64, in zone: TimeZoneTable, count: Int) -> [Int64] {
        Array(
            sequence(state: start) { last in
                guard let next = next(after: last, in: zone) else { return nil }
                last = next
                return next
            }.prefix(count))
    }
}
