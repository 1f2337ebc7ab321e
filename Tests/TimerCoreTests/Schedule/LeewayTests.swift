import TestSupport
import Testing

@testable import TimerCore

/// Fires that may be late so that they share wake-ups, and fires that are spread so that they do not come at once.
struct LeewayTests {
    private let definition = Bench.definition("t", rules(.after(1)))

    private func planned(_ due: Int64, leeway: Int64, jitter: Int64 = 0) -> Int64 {
        let rules = rules(.after(1)) {
            $0.leeway = leeway
            $0.jitter = jitter
        }
        return Grid(rules, CalendarBook(UTCOnly())).planned(due, definition.span)
    }

    @Test func `of the instants that the leeway allows it is the one on the coarsest grid`() {
        for due in 0...300 as ClosedRange<Int64> {
            for leeway in 0...70 as ClosedRange<Int64> {
                let choices = due...due + leeway
                let coarsest = choices.max { Self.grid($0) < Self.grid($1) }
                #expect(planned(due, leeway: leeway) == coarsest)
            }
        }
    }

    /// The exponent of the greatest power of two that divides an instant.
    private static func grid(_ instant: Int64) -> Int { instant == 0 ? 64 : instant.trailingZeroBitCount }

    @Test(arguments: [1, 7, 100, 1000, 86_400_000, TimerRules.longestDuration] as [Int64])
    func `jitter stays below its bound and leeway above it, early never`(jitter: Int64) {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<2000 {
            let due = random.number(-1_000_000...Bench.wallStart)
            let leeway = random.number(0...100_000)
            let instant = planned(due, leeway: leeway, jitter: jitter)
            #expect(instant >= due && instant < due + jitter + leeway)
            let jittered = planned(due, leeway: 0, jitter: jitter)
            #expect(instant >= jittered && instant <= jittered + leeway)
        }
    }

    @Test func `a herd at one instant is spread evenly`() {
        let rules = rules(.at(Bench.wallStart)) { $0.jitter = 60_000 }
        let grid = Grid(rules, CalendarBook(UTCOnly()))
        var buckets = [Int](repeating: 0, count: 60)
        for number in 0..<60_000 {
            let bytes = Bench.definition("timer-\(number)", rules)
            buckets[Int(grid.planned(Bench.wallStart, bytes.span) - Bench.wallStart) / 1000] += 1
        }
        // 1000 each on average; 158 is five standard deviations of a binomial count.
        #expect(buckets.allSatisfy { abs($0 - 1000) < 158 }, "\(buckets)")
    }

    @Test func `the delay of a fire is the same for ever, that of the next another`() {
        let delays = (0..<100).map { planned(Bench.wallStart + $0 * 1000, leeway: 0, jitter: 1000) % 1000 }
        #expect(delays == (0..<100).map { planned(Bench.wallStart + $0 * 1000, leeway: 0, jitter: 1000) % 1000 })
        #expect(Set(delays).count > 80)
    }

    @Test func `a late plan is no lateness of the schedule`() throws {
        let bench = Bench()
        try bench.create(rules(.every(1000, first: .period)) { $0.leeway = 200 })
        let first = planned(Bench.elapsedStart + 1000, leeway: 200) - Bench.elapsedStart
        #expect(first > 1000)
        #expect(bench.advance(first - 1) == [])
        #expect(bench.advance(1) == ["fired due 1000"])
        #expect(bench.effects.first?.fire?.latenessUs == (first - 1000) * 1000)
        #expect(try bench.due() == 2000)
    }

    @Test func `timers whose windows overlap share a wake-up`() throws {
        let bench = Bench()
        var random = SeededGenerator(seed: 9)
        for number in 0..<500 {
            bench.pass(random.number(0...4))
            try bench.create(
                rules(.every(1000, first: .period)) { $0.leeway = 100 }, id: "t\(number)")
        }
        var wakeUps = 0
        var fires = 0
        for _ in 0..<3000 {
            let lines = bench.advance(1)
            if !lines.isEmpty { wakeUps += 1 }
            fires += lines.count
        }
        #expect(fires > 1400)
        // At the least one grid point of 64 ms lies in every window of 100.
        #expect(wakeUps <= 3000 / 64 + 1)
    }

    @Test func `what stalls delay beyond the plan misfires, what is planned later does not`() throws {
        let bench = Bench()
        try bench.create(rules(.after(1000)) { $0.jitter = 100_000 })
        let delay = planned(Bench.elapsedStart + 1000, leeway: 0, jitter: 100_000) - Bench.elapsedStart
        #expect(delay > 3000)
        #expect(bench.stall(2500) == [])
        #expect(bench.advance(delay - 2500) == ["fired due 1000", "completed"])
        try bench.create(rules(.after(1000)) { $0.jitter = 100_000 }, id: "other")
        #expect(bench.stall(101_000) == ["fired misfire \(delay + 1000)", "completed"])
    }

    @Test(arguments: [50, 512])
    func `sorting by the next fire takes what is planned late in its own place`(others: Int) throws {
        let bench = Bench()
        // With the wheel at this instant the timer planned late is in another slot; among many it shares theirs.
        if others == 50 { bench.advance() }
        for number in 1...others { try bench.create(rules(.after(1000 + Int64(number % 50 + 1))), id: "t\(number)") }
        try bench.create(rules(.after(1000)) { $0.leeway = 5000 }, id: "early")
        var after: Scheduler.DuePlace?
        #expect(bench.soonest(after: &after, limit: 1) == ["early"])
    }
}
