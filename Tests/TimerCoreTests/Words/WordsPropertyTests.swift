import TestSupport
import Testing

@testable import TimerCore

/// Words and instants: schedules that differ in their instants differ in their words.
@Suite struct WordsPropertyTests {
    /// 2030-01-07T09:00:00Z, a Monday.
    private static let start: Int64 = 1_894_006_800_000
    private static let suffix = "; from 2030-01-07 09:00 UTC on"

    @Test func `schedules of the same words have the same instants`() throws {
        var random = SeededGenerator(seed: 7)
        var seen: [String: (text: String, instants: [Int64])] = [:]
        var matches = 0
        for _ in 0..<4000 {
            let (text, schedule) = random.chance(oneIn: 2) ? try Self.cron(&random) : try Self.rule(&random)
            var words = TimerRules(schedule).words(in: .utc)
            // Both kinds are asked from the start on.
            if words.hasSuffix(Self.suffix) { words.removeLast(Self.suffix.count) }
            let instants = Self.instants(schedule)
            guard let other = seen[words] else {
                seen[words] = (text, instants)
                continue
            }
            if other.text != text { matches += 1 }
            #expect(instants == other.instants, "'\(words)' is said of \(text) and of \(other.text)")
        }
        // Without pairs that are spelled differently the test would show nothing.
        #expect(matches > 100)
    }

    private static func instants(_ schedule: Schedule) -> [Int64] {
        Array(
            sequence(state: start - 1) { last in
                guard let next = schedule.next(after: last, in: .utc) else { return nil }
                last = next
                return next
            }.prefix(50))
    }

    private static func cron(_ random: inout SeededGenerator) throws -> (String, Schedule) {
        let fields = [
            ["0", "0", "0", "30", "*", "*/15", "0,15,30,45", "5-59/15", "*/7", "0-10", "0,1,2", "5,35"],
            ["9", "9", "*", "*/2", "0-22/2", "1-23/2", "9-17", "9,17", "0,4,8,12,16,20", "8-11,13-17"],
            ["*", "*", "*", "1", "1-7", "*/2", "1-31/2", "L", "L-1", "15W", "LW", "1,15", "1-31", "2,4"],
            ["*", "*", "*", "1", "JAN,JUL", "3-5", "*/2", "1,3,5,7,9,11", "2,4-12"],
            [
                "*", "*", "*", "MON", "1", "MON-FRI", "1,2,3,4,5", "SAT,SUN", "FRIL", "MON#1", "MON#2", "0-7",
                "MON,FRIL", "1-6",
            ],
        ]
        var words = fields.map { $0.randomElement(using: &random) ?? "*" }
        if random.chance(oneIn: 4) {
            words.insert(["0", "30", "*", "*/10", "0-50/10", "5-55/10"].randomElement(using: &random) ?? "0", at: 0)
        }
        let text = words.joined(separator: " ")
        return (text, .cron(try CronSchedule(text)))
    }

    private static func rule(_ random: inout SeededGenerator) throws -> (String, Schedule) {
        var text = ""
        let frequency = ["DAILY", "WEEKLY", "MONTHLY", "YEARLY"].randomElement(using: &random) ?? "DAILY"
        func add(_ part: String, _ values: [String], oneIn count: Int) {
            guard random.chance(oneIn: count), let value = values.randomElement(using: &random) else { return }
            text += ";\(part)=\(value)"
        }
        add("INTERVAL", ["1", "2", "3"], oneIn: 3)
        add("BYHOUR", ["9", "9,17", "8,9,10,11", "0,6,12,18", "0,2,4,6,8,10,12"], oneIn: 3)
        add("BYMINUTE", ["0", "30", "0,15,30,45", "0,30"], oneIn: 4)
        add("BYSECOND", ["0", "30"], oneIn: 6)
        add("BYMONTH", ["1", "1,7", "3,4,5", "1,2,3,4,5,6,7,8,9,10,11,12"], oneIn: 4)
        let numbered =
            frequency == "MONTHLY" || frequency == "YEARLY" ? ["-1FR", "1MO", "2MO", "MO,-1FR", "1MO,2MO"] : []
        if frequency == "YEARLY", random.chance(oneIn: 3) {
            add("BYWEEKNO", ["1", "20", "-1", "1,2,3"], oneIn: 1)
            add("BYDAY", ["MO", "MO,FR"], oneIn: 2)
        } else {
            add("BYDAY", ["MO", "MO,TU,WE,TH,FR", "SA,SU", "MO,TU,WE,TH,FR,SA,SU", "MO,WE"] + numbered, oneIn: 2)
        }
        if frequency != "WEEKLY" { add("BYMONTHDAY", ["1", "1,15", "-1", "-2,-1", "1,2,3,4,5,6,7", "7"], oneIn: 4) }
        if frequency == "YEARLY" { add("BYYEARDAY", ["1", "7", "100", "-1"], oneIn: 6) }
        if text.contains("BY") { add("BYSETPOS", ["1", "-1", "2", "1,-1"], oneIn: 4) }
        add("WKST", ["SU", "TU", "MO"], oneIn: 3)
        add("COUNT", ["1", "10"], oneIn: 8)
        text = "FREQ=\(frequency)" + text
        let schedule = try RecurrenceSchedule(Array(text.utf8), zone: Array("UTC".utf8), from: start)
        return (text, .recurrence(schedule.bounded(in: .utc)))
    }

    @Test(arguments: [
        "1,3,7,12,20,44,50,51,52 1,3,7,12,13,15,20,21 1,3,5,8,12,20,25,L,L-3,L-5,L-9,1W,3W,5W,7W,9W,11W,13W,15W,17W,19W "
            + "1,3,5,7,11 MON#1,TUE#2,WED#3,THU#4,FRIL",
        "1,3,4,7 1,3,7,12,13,15,20,21 */2,2W,4W,6W,8W,9W,10W,12W,L,L-1,L-2,L-3,L-4,L-5,L-6,L-7,L-8 2,5 MON#1,TUE#2,WED#3,MON#5",
    ])
    func `lists are cut in words that would be too long`(text: String) throws {
        let words = TimerRules(.cron(try CronSchedule(text))).words(in: .utc)
        #expect(words.contains(" more ") && words.utf8.count <= TimerRules.shortWords)
    }

    @Test func `the longest words are bounded`() throws {
        let name = try #require(CalendarName(Array(repeating: UInt8(ascii: "c"), count: CalendarName.longest)))
        let zone = Array(repeating: UInt8(ascii: "z"), count: 64)
        let cron = try CronSchedule(
            Array(
                "1,3,7,9 1,3,7,8 1,3,8,12,20,L,L-3,L-5,1W,3W,5W,7W,LW 1,3,6,8,11 MON#1,TUE#2,WED#3,THU#4,FRIL,SUN".utf8),
            zone: zone, from: 1)
        var rules = TimerRules(.expecting(.cron(cron), grace: 93_784_005))
        rules.calendar = CalendarRule(name, onClosed: .previousDay)
        rules.misses = 32
        rules.repeatAlarm = true
        (rules.maxFires, rules.until) = (.max, 1)
        #expect(rules.words(in: nil).utf8.count <= TimerRules.longestWords)
    }
}
