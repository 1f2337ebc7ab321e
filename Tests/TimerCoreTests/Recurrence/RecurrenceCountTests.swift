import TestSupport
import Testing

@testable import TimerCore

/// `latest` against repeated calls of `next`, and searches that find little or nothing.
struct RecurrenceCountTests {
    private static func list(_ numbers: ClosedRange<Int>, _ random: inout SeededGenerator, signed: Bool = false)
        -> String
    {
        (0..<Int.random(in: 1...4, using: &random)).map { _ in
            let number = Int.random(in: numbers, using: &random)
            return "\(signed && random.chance(oneIn: 3) ? -number : number)"
        }.joined(separator: ",")
    }

    private static func rule(_ random: inout SeededGenerator) -> String {
        var rule = "FREQ=\(["DAILY", "WEEKLY", "MONTHLY", "YEARLY"].randomElement(using: &random) ?? "DAILY")"
        if random.chance(oneIn: 2) { rule += ";INTERVAL=\(random.number(1...10))" }
        if random.chance(oneIn: 4) { rule += ";COUNT=\(random.number(1...90))" }
        if random.chance(oneIn: 2) { rule += ";BYHOUR=\(list(0...4, &random))" }
        if random.chance(oneIn: 2) {
            rule += ";BYMINUTE=\(["0", "0,30", "15,45"].randomElement(using: &random) ?? "0")"
        }
        if random.chance(oneIn: 3) { rule += ";BYMONTH=\(list(1...12, &random))" }
        if random.chance(oneIn: 4) { rule += ";BYMONTHDAY=\(list(1...31, &random, signed: true))" }
        if random.chance(oneIn: 6) { rule += ";BYYEARDAY=\(list(1...366, &random, signed: true))" }
        if random.chance(oneIn: 6) { rule += ";BYWEEKNO=\(list(1...53, &random, signed: true))" }
        if random.chance(oneIn: 3) {
            rule += ";BYDAY=\(["SU", "MO,TU,WE,TH,FR", "2SU,-1MO"].randomElement(using: &random) ?? "SU")"
        }
        if random.chance(oneIn: 4) { rule += ";BYSETPOS=\(list(1...6, &random, signed: true))" }
        return rule
    }

    @Test(arguments: CronCountTests.zones)
    func `a rule names its fires, and those beyond its count`(name: String) throws {
        let zone = try ZoneFiles.zone(name)
        var random = SeededGenerator(seed: 12)
        var compared = 0
        while compared < 40 {
            let from = random.number(0...2_000_000_000) * 1000
            let text = Self.rule(&random).replacing(/;COUNT=[0-9]+/, with: "")
            let plain = try? RecurrenceSchedule(Array(text.utf8), zone: [], from: from)
            guard let fires = plain?.fires(after: from - 1, in: zone, count: 30), fires.count == 30 else { continue }
            compared += 1
            let counted = try RecurrenceSchedule(
                Array("\(text);COUNT=3".utf8), zone: [], from: from, rdates: [from + 500], exdates: [fires[1]])
            for fire in fires {
                #expect(counted.names(fire, in: zone) == (fire != fires[1]), "\(text) from \(from) at \(fire)")
                #expect(!counted.names(fire + 1, in: zone) || fire + 1 == from + 500)
            }
            #expect(counted.names(from + 500, in: zone))
        }
    }

    @Test(arguments: [
        "WEEKLY;BYMONTH=1", "WEEKLY;INTERVAL=2;BYMONTH=2,3;BYDAY=SU,SA",
        "WEEKLY;INTERVAL=5;BYMONTH=12;BYDAY=MO,TH,FR;WKST=WE",
        "WEEKLY;INTERVAL=3;BYMONTH=1,12;BYDAY=SU,MO,SA;BYSETPOS=-1;WKST=SU", "MONTHLY;INTERVAL=5;BYDAY=-1FR,5MO",
        "MONTHLY;BYMONTH=2,3;BYMONTHDAY=-1,29;BYDAY=MO,TU,WE", "DAILY;BYMONTH=2,12;BYDAY=SU",
    ])
    func `weeks and months are counted as one by one`(parts: String) throws {
        let zone = try ZoneFiles.zone("UTC")
        let text = Array("FREQ=\(parts)".utf8)
        let schedule = try RecurrenceSchedule(text, zone: [], from: try ZoneFiles.instant("1890-01-03T05:00Z"))
        var (count, place) = (Int64(0), schedule.from - 1)
        let end = try ZoneFiles.instant("2310-01-01T00:00Z")
        while let next = schedule.next(after: place, in: zone), next < end { (count, place) = (count + 1, next) }
        let latest = try #require(schedule.latest(after: schedule.from - 1, through: end - 1, in: zone))
        #expect(latest.count == count && latest.instant == place && count > 400)
    }

    @Test(arguments: CronCountTests.zones)
    func `latest is the last of so many next`(name: String) throws {
        let zone = try ZoneFiles.zone(name)
        var random = SeededGenerator(seed: 11)
        var compared = 0
        while compared < 60 {
            let rule = Self.rule(&random)
            let from = random.number(-3_000_000_000...8_000_000_000) * 1000
            let dates = (0..<random.number(0...2)).map { _ in from + random.number(0...40_000_000) * 500 }
            let plain = try? RecurrenceSchedule(Array(rule.utf8), zone: [], from: from, rdates: dates)
            guard let plain else { continue }
            compared += 1
            let start = from + random.number(-1...100_000_000) * 1000
            let taken = plain.fires(after: start, in: zone, count: 20).filter { _ in random.chance(oneIn: 4) }
            let schedule = try RecurrenceSchedule(Array(rule.utf8), zone: [], from: from, rdates: dates, exdates: taken)
            let fires = schedule.fires(after: start, in: zone, count: 100)
            #expect(fires == fires.sorted() && Set(fires).count == fires.count)
            for index in [0, 1, fires.count / 2, fires.count - 1] where fires.indices.contains(index) {
                let latest = schedule.latest(after: start, through: fires[index], in: zone)
                #expect(latest?.instant == fires[index], "\(rule) from \(from) after \(start)")
                #expect(latest?.count == Int64(index + 1), "\(rule) from \(from) after \(start)")
                let before = schedule.latest(after: start, through: fires[index] - 1, in: zone)
                #expect(before?.instant == (index == 0 ? nil : fires[index - 1]), "\(rule) from \(from) after \(start)")
                #expect(before?.count ?? 0 == Int64(index), "\(rule) from \(from) after \(start)")
            }
        }
    }

    @Test(arguments: [
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=MONTHLY;BYMONTH=2,4;BYMONTHDAY=31", "FREQ=MONTHLY;BYDAY=6MO",
        "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", "FREQ=DAILY;INTERVAL=7;BYDAY=FR", "FREQ=YEARLY;BYYEARDAY=1;BYMONTH=2",
        "FREQ=YEARLY;BYWEEKNO=1;BYMONTH=7", "FREQ=DAILY;BYHOUR=9;BYSETPOS=2", "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=6",
        "FREQ=YEARLY;INTERVAL=4;BYYEARDAY=366", "FREQ=MONTHLY;INTERVAL=12;BYMONTHDAY=2;BYDAY=MO;BYMONTH=2",
        "FREQ=DAILY;INTERVAL=999999999;BYHOUR=1", "FREQ=YEARLY;INTERVAL=100;BYMONTH=2;BYMONTHDAY=29",
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30;COUNT=999999999", "FREQ=WEEKLY;INTERVAL=20871;BYMONTH=7",
    ])
    func `a rule that is never due has an end of its search`(rule: String) throws {
        let schedule = try RecurrenceSchedule(rule, from: "2026-01-01T12:00Z")
        let zone = try ZoneFiles.zone("Europe/Berlin")
        #expect(schedule.next(after: .min, in: zone) == nil)
        #expect(schedule.latest(after: .min, through: .max, in: zone) == nil)
    }

    @Test(arguments: [
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=SU", "2032-02-28T23:00Z"),
        ("FREQ=YEARLY;BYYEARDAY=366;BYDAY=SU", "2028-12-30T23:00Z"),
        ("FREQ=DAILY;INTERVAL=7;BYMONTH=2;BYMONTHDAY=29", "2052-02-28T23:00Z"),
        ("FREQ=WEEKLY;INTERVAL=52;BYMONTH=2", "2216-02-28T23:00Z"),
    ])
    func `a rule that is seldom due is`(rule: String, expected: String) throws {
        let zone = try ZoneFiles.zone("Europe/Berlin")
        let schedule = try RecurrenceSchedule(rule, from: "1969-12-31T23:00Z")
        #expect(try schedule.fires(after: "2027-01-01T00:00Z", in: zone, count: 1) == [expected])
    }

    /// All minutes, or seconds.
    private static let sixty = (0..<60).map(String.init).joined(separator: ",")

    @Test func `each second of a day is one, and a year of them is counted`() throws {
        let rule =
            "FREQ=DAILY;BYHOUR=\((0..<24).map(String.init).joined(separator: ","));BYMINUTE=\(Self.sixty);BYSECOND=\(Self.sixty)"
        let zone = try ZoneFiles.zone("Europe/Berlin")
        let schedule = try RecurrenceSchedule(rule, from: "1969-12-31T23:00Z")
        let now = try ZoneFiles.instant("2026-03-29T01:00Z")
        #expect(schedule.next(after: now, in: zone) == now + 1000)
        // Each second of an hour that comes twice is the first one.
        let latest = schedule.latest(after: now, through: now + 365 * 86_400_000, in: zone)
        #expect(latest?.instant == now + 365 * 86_400_000)
        let seconds: Int64 = 365 * 86_400 - 3600
        #expect(latest?.count == seconds)
        let limited = try RecurrenceSchedule(rule + ";COUNT=100000000", from: "1969-12-31T23:00Z")
        #expect(try limited.fires(after: "1973-01-01T00:00Z", in: zone, count: 1) == ["1973-01-01T00:00:01Z"])
        #expect(limited.next(after: now, in: zone) == nil)
        #expect(limited.latest(after: .min, through: .max, in: zone)?.count == 100_000_000)
        #expect(
            schedule.next(after: schedule.latest(after: .min, through: .max, in: zone)?.instant ?? 0, in: zone) == nil)
    }

    /// The tables of zones repeat themselves after 400 years; in the south that is between two changes of offset.
    @Test(arguments: ["Australia/Sydney", "America/Santiago", "Europe/Berlin"])
    func `a gap counts once where a zone's table repeats itself`(name: String) throws {
        let zone = try ZoneFiles.zone(name)
        let schedule = try RecurrenceSchedule("FREQ=DAILY;BYHOUR=0,1,2,3;BYMINUTE=30", from: "2000-01-01T12:00Z")
        let start = try ZoneFiles.instant("2400-01-01T00:00Z")
        let month: Int64 = 30 * 86_400_000
        let counts = (0..<1200 as Range<Int64>).map { index in
            let begin = start + index * month
            return schedule.latest(after: begin, through: begin + month, in: zone)?.count ?? 0
        }
        let whole = schedule.latest(after: start, through: start + 1200 * month, in: zone)
        #expect(whole?.count == counts.reduce(0, +))
    }

    @Test(arguments: [
        ("FREQ=DAILY;INTERVAL=3", 3), ("FREQ=WEEKLY;INTERVAL=2", 14),
        ("FREQ=DAILY;INTERVAL=10;BYMONTH=1,2,3,4,5,6,7,8,9,10,11,12", 10),
    ])
    func `an interval counts from the start, however far`(rule: String, days: Int64) throws {
        let schedule = try RecurrenceSchedule(rule, from: "1970-01-01T00:00Z")
        for day in [1, 20_000, 20_001, 20_454, 2_000_000] as [Int64] {
            let next = (day / days + 1) * days
            #expect(schedule.next(after: day * 86_400_000, in: .utc) == next * 86_400_000)
            let latest = schedule.latest(after: -1, through: day * 86_400_000, in: .utc)
            #expect(latest?.count == day / days + 1)
        }
    }

    @Test(arguments: [
        // Days of January that are in the last week of the year before, and days of December in week 1 of the next.
        ("FREQ=YEARLY;BYWEEKNO=53;BYDAY=MO,SU", ["2026-12-28T12:00Z", "2027-01-03T12:00Z", "2032-12-27T12:00Z"]),
        ("FREQ=YEARLY;BYWEEKNO=-1;BYDAY=SU", ["2027-01-03T12:00Z", "2028-01-02T12:00Z", "2028-12-31T12:00Z"]),
        (
            "FREQ=YEARLY;BYWEEKNO=1;BYDAY=MO",
            ["2027-01-04T12:00Z", "2028-01-03T12:00Z", "2029-01-01T12:00Z", "2029-12-31T12:00Z"]
        ),
        ("FREQ=YEARLY;BYWEEKNO=1;BYDAY=MO;WKST=SU", ["2027-01-04T12:00Z", "2028-01-03T12:00Z", "2029-01-01T12:00Z"]),
        ("FREQ=YEARLY;BYWEEKNO=-53;BYDAY=MO", ["2031-12-29T12:00Z", "2036-12-29T12:00Z"]),
        ("FREQ=YEARLY;BYYEARDAY=-1,366", ["2026-12-31T12:00Z", "2027-12-31T12:00Z", "2028-12-31T12:00Z"]),
        ("FREQ=YEARLY;BYDAY=-1MO,1SU", ["2026-12-28T12:00Z", "2027-01-03T12:00Z", "2027-12-27T12:00Z"]),
        ("FREQ=YEARLY;BYMONTH=12;BYDAY=-5TH,5WE", ["2026-12-30T12:00Z", "2027-12-02T12:00Z", "2027-12-29T12:00Z"]),
    ])
    func `weeks and days near New Year`(rule: String, expected: [String]) throws {
        let schedule = try RecurrenceSchedule(rule, from: "2026-12-27T12:00Z")
        #expect(try schedule.fires(count: expected.count) == expected)
    }
}
