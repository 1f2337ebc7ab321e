import Testing

@testable import TimerCore

struct CronCacheTests {
    private func cron(_ text: String) throws -> TimerRules {
        rules(.cron(try CronSchedule(Array(text.utf8), zone: Array("UTC".utf8), from: nil)))
    }

    @Test func `an expression is read once, however often its timers fire`() throws {
        let bench = Bench()
        for index in 0..<10 { try bench.create(try cron("*/10 * * * * *"), id: "t\(index)") }
        let fires = bench.advance(100_000).filter { $0.hasPrefix("fired") }
        for index in 0..<10 { _ = try bench.apply(.fire, id: "t\(index)") }
        #expect(fires.count >= 10)
        #expect(bench.scheduler.crons.readings == 1)
    }

    @Test func `of more expressions than it remembers each is what it says`() throws {
        let cache = CronCache()
        let zone = Array("Europe/Berlin".utf8)
        for _ in 0..<2 {
            for index in 0..<3 * CronCache.capacity {
                let text = Array("\(index % 60) \(index / 60 % 24) \(index / 1440 + 1) * *".utf8)
                let from: Int64? = index % 3 == 0 ? Int64(index) : nil
                let expected = try CronSchedule(text, zone: zone, from: from)
                try #require(cache.schedule(text.span, zone: zone.span, from: from) == .cron(expected))
            }
        }
        #expect(cache.schedule(Array("61 * * * *".utf8).span, zone: zone.span, from: nil) == nil)
    }
}
