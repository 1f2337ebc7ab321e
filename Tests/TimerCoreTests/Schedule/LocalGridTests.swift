import TestSupport
import Testing

@testable import TimerCore

/// Grids that keep the local time of a zone: `every` with `at` and `timeZone`.
struct LocalGridTests {
    private static let day = Schedule.day

    private func bench(at start: String) throws -> Bench {
        let bench = Bench(zones: FileZones())
        bench.begin(at: try ZoneFiles.instant(start))
        return bench
    }

    private func local(_ start: String, days: Int64 = 1, zone: String = "Europe/Brussels") throws -> Schedule {
        .every(days * Self.day, first: .local(try ZoneFiles.instant(start), zone: Array(zone.utf8)))
    }

    private func upcoming(_ bench: Bench, _ count: Int) throws -> [String] {
        bench.scheduler.upcoming(try bench.slot(), bench.now, count: count).all().map(ZoneFiles.text)
    }

    struct Case: CustomTestStringConvertible {
        let zone: String
        let start: String
        let days: Int64
        let after: String
        let expected: [String]

        var testDescription: String { "every \(days) d from \(start) in \(zone) after \(after)" }
    }

    @Test(arguments: [
        // Each week at 16:00, over both changes of the year.
        Case(
            zone: "Europe/Brussels", start: "2026-03-19T15:00Z", days: 7, after: "2026-03-19T16:00Z",
            expected: ["2026-03-26T15:00Z", "2026-04-02T14:00Z"]),
        Case(
            zone: "Europe/Brussels", start: "2026-03-19T15:00Z", days: 7, after: "2026-10-22T13:59Z",
            expected: ["2026-10-22T14:00Z", "2026-10-29T15:00Z"]),
        // 02:30 is left out on one day and read with the offset before the gap; the next day it is 02:30 again.
        Case(
            zone: "Europe/Brussels", start: "2026-03-27T01:30Z", days: 1, after: "2026-03-27T01:30Z",
            expected: ["2026-03-28T01:30Z", "2026-03-29T01:30Z", "2026-03-30T00:30Z"]),
        // 02:30 comes twice, and the first counts.
        Case(
            zone: "Europe/Brussels", start: "2026-10-23T00:30Z", days: 1, after: "2026-10-23T00:30Z",
            expected: ["2026-10-24T00:30Z", "2026-10-25T00:30Z", "2026-10-26T01:30Z"]),
        // The offset changes by half an hour: 02:15 is left out on 4 October, 01:45 comes twice on 5 April.
        Case(
            zone: "Australia/Lord_Howe", start: "2026-10-02T15:45Z", days: 1, after: "2026-10-02T15:45Z",
            expected: ["2026-10-03T15:45Z", "2026-10-04T15:15Z"]),
        Case(
            zone: "Australia/Lord_Howe", start: "2026-04-02T14:45Z", days: 1, after: "2026-04-03T14:45Z",
            expected: ["2026-04-04T14:45Z", "2026-04-05T15:15Z"]),
        // 30 December 2011 was left out: its instant is that of the day after.
        Case(
            zone: "Pacific/Apia", start: "2011-12-28T19:00Z", days: 1, after: "2011-12-28T19:00Z",
            expected: ["2011-12-29T19:00Z", "2011-12-30T19:00Z", "2011-12-31T19:00Z"]),
        // An instant far from the first one.
        Case(
            zone: "Europe/Brussels", start: "1970-01-01T15:00Z", days: 1, after: "9000-07-01T00:00Z",
            expected: ["9000-07-01T14:00Z", "9000-07-02T14:00Z"]),
        Case(
            zone: "Europe/Brussels", start: "2026-07-01T14:00Z", days: 36_525, after: "2026-07-01T14:00Z",
            expected: ["2126-07-02T14:00Z"]),
    ])
    func `the local time holds`(test: Case) throws {
        let grid = LocalGrid(
            through: try ZoneFiles.instant(test.start), period: test.days * Self.day, in: try ZoneFiles.zone(test.zone))
        var instant = try ZoneFiles.instant(test.after)
        for expected in test.expected {
            instant = grid.next(after: instant)
            #expect(ZoneFiles.text(instant) == expected)
            #expect(grid.contains(instant) && !grid.contains(instant + 1))
        }
    }

    /// Compares the grid with a walk along it, day by day of the calendar.
    @Test(arguments: ["Europe/Brussels", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "UTC"])
    func `it finds what a walk over all its points finds`(zone: String) throws {
        let table = try ZoneFiles.zone(zone)
        var random = SeededGenerator(seed: 77)
        let begin = try ZoneFiles.instant("2025-01-01T00:00Z")
        for _ in 0..<40 {
            let start =
                begin + random.number(0...400) * Self.day + random.number(0...86_399) * 1000 + random.number(0...999)
            let days = random.number(1...9)
            let grid = LocalGrid(through: start, period: days * Self.day, in: table)
            let localStart = start + table.offset(at: floorDivide(start, 1000)) * 1000
            var last = start
            for point in 1...Int64(400 / days) {
                let next = grid.next(after: last)
                let local = localStart + point * days * Self.day
                #expect(next == Self.instant(ofLocal: local, in: table))
                #expect(grid.point(through: next) == point && grid.point(through: next - 1) == point - 1)
                last = next
            }
        }
    }

    /// Returns the first instant with a local time, by a look at the zone's offset in every quarter of an hour near it.
    private static func instant(ofLocal local: Int64, in zone: TimeZoneTable) -> Int64 {
        let offsets = stride(from: local - 15 * 3_600_000, through: local + 15 * 3_600_000, by: 900_000)
            .map { zone.offset(at: floorDivide($0, 1000)) * 1000 }
        let found = offsets.map { local - $0 }.filter { $0 + zone.offset(at: floorDivide($0, 1000)) * 1000 == local }
        // A local time in a gap is read with the offset before the gap.
        return found.min() ?? local - offsets[0]
    }

    @Test func `fires, misfires and previews are on it`() throws {
        let bench = try bench(at: "2026-03-28T00:00Z")
        try bench.create(rules(try local("2026-01-01T15:00Z")) { $0.misfire = .all })
        #expect(try upcoming(bench, 3) == ["2026-03-28T15:00Z", "2026-03-29T14:00Z", "2026-03-30T14:00Z"])
        bench.advance(15 * 3_600_000)
        #expect(bench.effects.map(\.type) == [.fired])
        #expect(try upcoming(bench, 1) == ["2026-03-29T14:00Z"])
        bench.stall(3 * Self.day)
        for _ in 0..<4 { bench.advance(1) }
        #expect(try bench.progress().fireCount == 4)
        #expect(try upcoming(bench, 1) == ["2026-04-01T14:00Z"])
    }

    @Test func `what was missed is counted by local days`() throws {
        let bench = try bench(at: "2026-03-28T00:00Z")
        try bench.create(rules(try local("2026-01-01T15:00Z")))
        // 14:30Z of the fourth day: all four instants have passed, though they are not whole days apart.
        bench.stall(3 * Self.day + 14 * 3_600_000 + 1_800_000)
        #expect(bench.effects.map(\.fire?.missed) == [3])
        #expect(bench.effects.compactMap(\.fire).map { ZoneFiles.text($0.scheduledAt) } == ["2026-03-31T14:00Z"])
    }

    @Test func `a fixed delay keeps the local time of the fire`() throws {
        let bench = try bench(at: "2026-03-28T14:00Z")
        try bench.create(rules(try local("2026-01-01T15:00Z")) { $0.mode = .fixedDelay })
        bench.pass(2 * 3_600_000)
        bench.advance()
        #expect(try upcoming(bench, 1) == ["2026-03-29T15:00Z"])
    }

    @Test func `a grid that a client moves keeps the new local time, also through a gap`() throws {
        let bench = try bench(at: "2026-03-27T00:00Z")
        try bench.create(rules(try local("2026-01-01T15:00Z")))
        try bench.apply(.reschedule, .at(try ZoneFiles.instant("2026-03-28T01:30Z")))
        #expect(try upcoming(bench, 3) == ["2026-03-28T01:30Z", "2026-03-29T01:30Z", "2026-03-30T00:30Z"])
        bench.advance(Self.day + 5_400_000)
        #expect(try bench.progress().flags == [.ownGrid, .readInGap])
        bench.restart()
        bench.advance(Self.day)
        #expect(try upcoming(bench, 2) == ["2026-03-30T00:30Z", "2026-03-31T00:30Z"])
        #expect(try bench.progress().flags == [.ownGrid])
        try bench.amend { $0.mode = .fixedDelay }
        #expect(try upcoming(bench, 1) == ["2026-03-29T14:00Z"])
    }

    @Test func `after an instant to come it begins with that`() throws {
        let bench = try bench(at: "2026-03-27T00:00Z")
        try bench.create(rules(try local("2026-10-25T01:30Z")))
        // The second 02:30 of that night, as the client said; the local time comes once afterwards.
        #expect(try upcoming(bench, 2) == ["2026-10-25T01:30Z", "2026-10-26T01:30Z"])
    }
}
