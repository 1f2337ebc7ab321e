import Testing

@testable import TimerCore

struct ScheduleCacheTests {
    static let utc = Array("UTC".utf8)

    private static func cron(_ text: String, from: Int64? = nil) throws -> Schedule {
        .cron(try CronSchedule(Array(text.utf8), zone: utc, from: from))
    }

    private static func recurrence(_ text: String, from: Int64 = 0) throws -> Schedule {
        .recurrence(try RecurrenceSchedule(Array(text.utf8), zone: utc, from: from))
    }

    @Test(arguments: [true, false])
    func `a schedule is read once, however often its timers fire`(isRule: Bool) throws {
        let bench = Bench()
        let schedule = isRule ? try Self.recurrence("FREQ=DAILY;BYSECOND=0,10,20") : try Self.cron("*/10 * * * * *")
        for index in 0..<10 { try bench.create(rules(schedule), id: "t\(index)") }
        let fires = bench.advance(isRule ? 10 * Schedule.day : 100_000).filter { $0.hasPrefix("fired") }
        for index in 0..<10 { _ = try bench.apply(.fire, id: "t\(index)") }
        #expect(fires.count >= 10)
        #expect(bench.scheduler.schedules.cost == (isRule ? ScheduleCache.recurrenceCost : 1))
    }

    @Test func `of more schedules than it remembers each is what it says`() throws {
        let cache = ScheduleCache(UTCOnly())
        for _ in 0..<2 {
            for index in 0..<3 * ScheduleCache.capacity {
                let from: Int64? = index % 3 == 0 ? Int64(index) : nil
                let minute = "\(index % 60) \(index / 60 % 24) \(index / 1440 + 1)"
                let schedule = try Self.cron("\(minute) * *", from: from)
                let bytes = Array("\(minute) \(from ?? -1)".utf8)
                let known = cache.find(0, bytes.span)
                try #require(known == nil || known == schedule)
                cache.keep(schedule, 0, bytes.span)
                try #require(cache.find(0, bytes.span) == schedule)
                try #require(cache.find(1, bytes.span) == nil)
            }
        }
    }
}
