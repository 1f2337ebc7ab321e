import Primitives
import TestSupport
import Testing

@testable import TimerCore

/// Schedules with several times of day whose instants a change of the opening hours moves over one another: each fires once.
/// 2026-11-20 is a Friday.
struct SpentInstantsTests {
    private static func timer(_ cron: String, _ policy: ClosedPolicy) throws -> TimerRules {
        let calendar = try Bench.office(policy)
        return rules(.cron(try CronSchedule(cron))) { $0.calendar = calendar }
    }

    /// A timer whose Friday at 16:00 has fired, while its Friday at 10:00 waits for Monday; then Fridays are closed.
    private static func changed() throws -> Bench {
        let bench = try Bench(
            officeAt: "2026-11-20T00:00Z", week: ["mon-thu": ["09:00-17:00"], "fri": ["12:00-17:00"]])
        try bench.create(try timer("0 10,16 * * FRI", .nextDay))
        #expect(try bench.fires(through: "2026-11-20T20:00Z") == ["2026-11-20T16:00Z"])
        try bench.open(["mon-thu": ["09:00-17:00"]])
        return bench
    }

    @Test func `an instant that has fired does not come again after one that waited`() throws {
        let bench = try Self.changed()
        let slot = try bench.slot()
        let next = bench.scheduler.upcoming(slot, bench.now, count: 2).all().map { ZoneFiles.text($0) }
        #expect(next == ["2026-11-23T10:00Z", "2026-11-30T10:00Z"])
        // The instant that waited stays where it is, so that no event is shown; the log takes the spent instants.
        #expect(bench.advance() == ["untold"])
        #expect(
            try bench.fires(through: "2026-12-01T00:00Z")
                == ["2026-11-23T10:00Z", "2026-11-30T10:00Z", "2026-11-30T16:00Z"])
    }

    @Test func `a command before the timer is looked at takes the spent instants along`() throws {
        let bench = try Self.changed()
        #expect(try bench.apply(.suspend) == ["suspended"])
        #expect(bench.effects.first?.redefines == true)
        bench.restart()
        try bench.apply(.resume)
        #expect(bench.effects.first?.redefines == false)
        #expect(try bench.fires(through: "2026-11-24T00:00Z") == ["2026-11-23T10:00Z"])
    }

    @Test func `a restart and a change of other fields keep the spent instants, which no client sees`() throws {
        let bench = try Self.changed()
        bench.advance()
        bench.restart()
        #expect(try bench.declare(try Self.timer("0 10,16 * * FRI", .nextDay)) == [])
        #expect(try bench.amend { $0.maxFires = 7 } == ["updated"])
        #expect(try bench.rules().calendar?.spent.isEmpty == false)
        #expect(try bench.fires(through: "2026-11-24T00:00Z") == ["2026-11-23T10:00Z"])
    }

    @Test func `another schedule has no spent instants`() throws {
        let bench = try Self.changed()
        try bench.amend { $0.schedule = .cron(try! CronSchedule("0 10,16 * * THU,FRI")) }
        #expect(try bench.rules().calendar?.spent.isEmpty == true)
        #expect(
            try bench.fires(through: "2026-11-24T00:00Z") == ["2026-11-23T10:00Z", "2026-11-23T16:00Z"])
    }

    @Test func `a change that moves nothing over itself spends nothing`() throws {
        let bench = try Bench(officeAt: "2026-11-20T00:00Z")
        try bench.create(try Self.timer("0 10,16 * * FRI", .nextDay))
        _ = try bench.fires(through: "2026-11-20T20:00Z")
        try bench.open(["mon-fri": ["09:00-17:00"]], dates: ["2026-12-25": []])
        #expect(bench.advance() == [])
        #expect(try bench.rules().calendar?.spent.isEmpty == true)
    }

    @Test(arguments: [[], [3], [-5, 0, 7]] as [[Int64]])
    func `bounds are read as they were written`(_ bounds: [Int64]) throws {
        let spent = try #require(SpentInstants(bounds: bounds))
        var bytes: [UInt8] = []
        spent.append(to: &bytes)
        var offset = 0
        #expect(SpentInstants(bytes.span, &offset) == spent)
        #expect(offset == bytes.count)
        #expect(bounds.isEmpty || SpentInstants(unspent: spent.unspent) == spent)
    }

    @Test(arguments: [[1, 2], [2, 1, 3], [1, 1, 2], [.max], [.min], [Int64](0..<131)])
    func `other bounds are none`(_ bounds: [Int64]) {
        #expect(SpentInstants(bounds: bounds) == nil)
        var run: [UInt8] = []
        var last: Int64 = 0
        for bound in bounds {
            ByteCoding.append(signed: bound &- last, to: &run)
            last = bound
        }
        var bytes: [UInt8] = []
        ByteCoding.append(run: run, to: &bytes)
        var offset = 0
        #expect(SpentInstants(bytes.span, &offset) == nil)
    }

    @Test func `bounds stay within the instants that can be kept, whatever the clock says`() throws {
        for unspent in [5 ..< .max, lastInstant ..< .max, 5..<lastInstant + 7] as [Range<Int64>] {
            let far = InstantRanges([unspent, lastInstant + 9 ..< .max])
            let spent = SpentInstants(unspent: far)
            #expect(SpentInstants(bounds: spent.bounds) == spent)
        }
    }

    @Test func `spent instants are neither found nor counted`() throws {
        let spent = try #require(SpentInstants(bounds: [10, 20, 30, 40, 50]))
        let all = (0..<70).map { Int64($0) }
        let left = all.filter { $0 / 10 % 2 == 1 || $0 >= 50 }
        for start in -1..<70 as Range<Int64> {
            let found = spent.next(after: start) { instant in all.first { $0 > instant } }
            #expect(found == left.first { $0 > start })
            let latest = spent.latest(after: start, through: 55) { start, end in
                let found = all.filter { $0 > start && $0 <= end }
                return found.last.map { ($0, Int64(found.count)) }
            }
            let expected = left.filter { $0 > start && $0 <= 55 }
            #expect(latest?.instant == expected.last)
            #expect(latest?.count ?? 0 == Int64(expected.count))
        }
    }

    @Test func `a holiday does not hide the week after it`() throws {
        let definition = try CalendarDefinition("UTC", week: ["mon": ["09:00-10:00"]], dates: ["2026-11-23": []])
        let zone = try ZoneFiles.zone("UTC")
        let walk = DayWalk(hours: OpenHours(definition, in: zone), zone: zone)
        let ranges = walk.unbroken(at: try ZoneFiles.instant("2026-11-17T00:00Z"), -1).ranges
        func isClosed(_ instant: String) throws -> Bool {
            let instant = try ZoneFiles.instant(instant)
            return ranges.contains { $0.contains(instant) }
        }
        #expect(try isClosed("2026-11-29T09:30Z"))
        #expect(try !isClosed("2026-11-30T09:30Z"))
        #expect(try !isClosed("2026-12-01T09:30Z"))
        #expect(try isClosed("2027-11-01T10:30Z"))
    }

    @Test(arguments: Array(100..<124) + [275])
    func `over random changes each instant fires once, when the present hours say`(_ seed: UInt64) throws {
        try MovedHistory(seed: seed).run()
    }
}

/// A random history of a timer and its calendar, beside a list of the schedule's instants that have not come. Clocks are set back
/// on 2026-10-25 in Berlin, and on 2026-11-01 in New York.
private final class MovedHistory {
    private var random: SeededGenerator
    private let bench: Bench
    private let policy: ClosedPolicy
    private let zones: (calendar: String, timer: TimeZoneTable)
    /// The instants that have not come, each with its place by the present hours.
    private var waiting: [(instant: Int64, due: Int64?)] = []

    private static let hour: Int64 = 3_600_000
    private static let names = ["UTC", "Europe/Berlin", "America/New_York"]

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        policy = random.chance(oneIn: 2) ? .nextDay : .previousDay
        let (zone, own) = (
            Self.names.randomElement(using: &random) ?? "UTC", Self.names.randomElement(using: &random) ?? "UTC"
        )
        zones = (zone, try ZoneFiles.zone(own))
        let week = Self.week(&random)
        bench = try Bench(officeAt: "2026-10-12T00:30Z", zone: zone, week: week)
        let times = (0..<24).filter { _ in random.chance(oneIn: 4) }.map(String.init)
        let days = (0..<7).filter { _ in random.chance(oneIn: 2) }.map(String.init)
        let fields = [times, days].map { $0.isEmpty ? "1" : $0.joined(separator: ",") }
        let text = "0 \(fields[0]) * * \(fields[1])"
        let cron = try CronSchedule(Array(text.utf8), zone: Array(own.utf8), from: nil)
        var place = bench.now.wall - 30 * Schedule.day
        while let next = cron.next(after: place, in: zones.timer), next < bench.now.wall + 120 * Schedule.day {
            waiting.append((next, nil))
            place = next
        }
        try plan(week)
        let calendar = try Bench.office(policy)
        _ = try? bench.create(rules(.cron(cron)) { $0.calendar = calendar })
    }

    private static let openings = [
        [], ["09:00-17:00"], ["00:00-24:00"], ["00:00-12:00"], ["12:00-24:00"], ["08:00-10:00", "15:00-20:00"],
    ]

    private static func week(_ random: inout SeededGenerator) -> Days {
        let drawn = (0..<6).map { _ in openings.randomElement(using: &random) ?? [] }
        return [
            "mon": drawn[0], "tue": drawn[1], "wed": drawn[2], "thu": drawn[3], "fri": drawn[4], "sat": drawn[5],
            "sun": ["09:00-12:00"],
        ]
    }

    /// Dates with hours of their own: one of the weeks before and after the start, and one of those that follow.
    private static func dates(_ random: inout SeededGenerator) throws -> Days {
        let start = try ZoneFiles.instant("2026-10-12T00:00Z")
        let days = [random.number(-20...19), random.number(20...60)].map { day in
            String(ZoneFiles.text(start + day * Schedule.day).prefix(10))
        }
        // Times that every Sunday has: instants that a single date alone opens would be moved by months.
        let drawn = (0..<2).map { _ in random.chance(oneIn: 2) ? [] : ["09:00-12:00"] }
        return [days[0]: drawn[0], days[1]: drawn[1]]
    }

    /// Plans the instants that have not come by these hours. Returns those that are due in the past by them.
    @discardableResult
    private func plan(_ week: Days, _ dates: Days = [:]) throws -> Set<Int64> {
        let definition = try CalendarDefinition(zones.calendar, week: week, dates: dates)
        let hours = OpenHours(definition, in: try ZoneFiles.zone(zones.calendar))
        waiting = waiting.map { ($0.instant, hours.moved($0.instant, by: policy, in: zones.timer)) }
        let past = waiting.filter { ($0.due ?? .max) <= bench.now.wall }.map(\.instant)
        pass()
        return Set(past)
    }

    /// Takes out what has come by now.
    private func pass() { waiting.removeAll { ($0.due ?? .max) <= bench.now.wall } }

    func run() throws {
        guard bench.exists() else { return }
        for _ in 0..<60 * 24 where try bench.progress().state == .running {
            let due = bench.now.wall + Self.hour / 2
            let isDue = waiting.contains { $0.due == due }
            bench.advance(Self.hour)
            #expect(bench.effects.compactMap(\.fire?.scheduledAt) == (isDue ? [due] : []), "at \(ZoneFiles.text(due))")
            pass()
            if random.chance(oneIn: 100) { try change() }
        }
    }

    /// Changes the hours, and expects a fire at once where the next instant moves into the past.
    private func change() throws {
        let due = waiting.compactMap(\.due).min()
        let next = Set(waiting.filter { due != nil && $0.due == due }.map(\.instant))
        let (week, dates) = (Self.week(&random), try Self.dates(&random))
        try bench.open(week, dates: dates, zone: zones.calendar)
        let isLate = !next.isDisjoint(with: try plan(week, dates))
        var effects: [Effect] = []
        if random.chance(oneIn: 3) {
            // Commands find the timer as it is by the new hours.
            for command in [TimerCommand.suspend, .resume] {
                _ = try? bench.apply(command)
                effects += bench.effects
            }
        }
        bench.advance()
        effects += bench.effects
        #expect(effects.compactMap(\.fire).count == (isLate ? 1 : 0), "at \(ZoneFiles.text(bench.now.wall))")
        if random.chance(oneIn: 3) { bench.restart() }
    }
}
