import TestSupport
import Testing

@testable import TimerCore

/// `latest` against repeated calls of `next`.
struct CronCountTests {
    static let zones = [
        "UTC", "Europe/Berlin", "Europe/Dublin", "Australia/Lord_Howe", "America/Asuncion", "Africa/Cairo",
        "Pacific/Apia", "Africa/Casablanca", "America/Havana", "Antarctica/Troll", "Asia/Kathmandu", "Africa/Monrovia",
        "Pacific/Kwajalein", "Asia/Manila",
    ]

    private static func field(_ low: Int, _ high: Int, _ random: inout SeededGenerator) -> String {
        let first = Int.random(in: low...high, using: &random)
        let second = Int.random(in: low...high, using: &random)
        let step = Int.random(in: 1...(high - low), using: &random)
        let range = "\(min(first, second))-\(max(first, second))"
        return ["*", "*/\(step)", "\(first)", "\(range)", "\(range)/\(step)", "\(first),\(second)"]
            .randomElement(using: &random) ?? "*"
    }

    private static func expression(_ random: inout SeededGenerator) -> String {
        let days = ["*", "*", "L", "LW", "15W", "L-2", field(1, 31, &random)].randomElement(using: &random) ?? "*"
        let weekdays = ["*", "*", "SUN#1", "FRIL", field(0, 7, &random)].randomElement(using: &random) ?? "*"
        let months = random.chance(oneIn: 3) ? field(1, 12, &random) : "*"
        let seconds = random.chance(oneIn: 3) ? field(0, 59, &random) + " " : ""
        return "\(seconds)\(field(0, 59, &random)) \(field(0, 23, &random)) \(days) \(months) \(weekdays)"
    }

    @Test(arguments: zones)
    func `latest is the last of so many next`(name: String) throws {
        let zone = try ZoneFiles.zone(name)
        var random = SeededGenerator(seed: 11)
        var compared = 0
        while compared < 150 {
            guard let schedule = try? CronSchedule(Self.expression(&random)) else { continue }
            compared += 1
            let start = random.number(-4_000_000_000...8_000_000_000) * 1000 + random.number(0...1)
            let fires = schedule.fires(after: start, in: zone, count: 300)
            #expect(fires == fires.sorted() && Set(fires).count == fires.count)
            for index in [0, 1, fires.count / 2, fires.count - 1] where fires.indices.contains(index) {
                for late in [0, 999] as [Int64] {
                    let latest = schedule.latest(after: start, through: fires[index] + late, in: zone)
                    #expect(latest?.instant == fires[index], "\(schedule.shown) after \(start)")
                    #expect(latest?.count == Int64(index + 1), "\(schedule.shown) after \(start)")
                }
                let before = schedule.latest(after: start, through: fires[index] - 1, in: zone)
                #expect(before?.instant == (index == 0 ? nil : fires[index - 1]), "\(schedule.shown) after \(start)")
            }
        }
    }

    @Test(arguments: zones)
    func `where one search ends does not change what the next one finds`(name: String) throws {
        let zone = try ZoneFiles.zone(name)
        var random = SeededGenerator(seed: 12)
        for _ in 0..<150 {
            guard let schedule = try? CronSchedule(Self.expression(&random)) else { continue }
            let start = random.number(-4_000_000_000...8_000_000_000) * 1000
            let middle = start + random.number(0...40_000_000) * 1000
            let end = middle + random.number(0...40_000_000) * 1000
            let halves = [(start, middle), (middle, end)].map { schedule.latest(after: $0, through: $1, in: zone) }
            let whole = schedule.latest(after: start, through: end, in: zone)
            #expect(whole?.count ?? 0 == (halves[0]?.count ?? 0) + (halves[1]?.count ?? 0))
            #expect(whole?.instant == (halves[1] ?? halves[0])?.instant)
        }
    }

    @Test func `nothing is due in an empty or backward span`() throws {
        let schedule = try CronSchedule("* * * * * *")
        #expect(schedule.latest(after: 5000, through: 5000, in: .utc) == nil)
        #expect(schedule.latest(after: 5000, through: .min, in: .utc) == nil)
        #expect(schedule.latest(after: .max, through: .max, in: .utc) == nil)
    }

    @Test func `ten years of seconds are counted`() throws {
        let zone = try ZoneFiles.zone("Europe/Berlin")
        let start = try ZoneFiles.instant("2026-01-01T00:00:00Z")
        let end = try ZoneFiles.instant("2036-01-01T00:00:00Z")
        let latest = try CronSchedule("* * * * * *").latest(after: start, through: end, in: zone)
        #expect(latest?.instant == end)
        #expect(latest?.count == (end - start) / 1000)
    }
}

extension CronSchedule {
    fileprivate var shown: String { String(decoding: text, as: UTF8.self) }
}
