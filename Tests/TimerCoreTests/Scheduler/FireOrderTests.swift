import TestSupport
import Testing

@testable import TimerCore

/// Many timers at once.
struct FireOrderTests {
    @Test(arguments: [1, 2, 3, 7, 1000])
    func `fires of one clock come in the order of their due instants`(limit: Int) throws {
        var random = SeededGenerator(seed: 11)
        let bench = Bench()
        for index in 0..<500 { try bench.create(rules(.after(random.number(1...300))), id: "t\(index)") }
        bench.advance(400, limit: limit)
        let fires = bench.effects.compactMap { $0.fire?.scheduledAt }
        #expect(fires.count == 500 && fires == fires.sorted())
    }

    @Test func `no fire is early, each is at its first millisecond when the loop keeps up`() throws {
        var random = SeededGenerator(seed: 12)
        let bench = Bench()
        for index in 0..<200 {
            let clock = TimerClock.withoutCalendar[index % 2]
            try bench.create(
                rules(.every(random.number(1...50), first: .after(random.number(0...100)))) { $0.clock = clock },
                id: "t\(index)")
        }
        var count = 0
        for _ in 0..<200 {
            bench.advance(1)
            for fire in bench.effects.compactMap(\.fire) {
                #expect(
                    fire.scheduledAt == bench.now.wall
                        || bench.now.wall == Bench.wall(1) && fire.scheduledAt == Bench.wallStart)
                count += 1
            }
        }
        #expect(count > 1000)
    }

    @Test func `a call touches no more timers than it may`() throws {
        let bench = Bench()
        for index in 0..<100 {
            try bench.create(rules(.after(1)) { $0.clock = TimerClock.withoutCalendar[index % 2] }, id: "t\(index)")
        }
        bench.pass(1)
        var fired = 0
        var calls = 0
        var done = false
        while !done && calls < 1000 {
            var effects: [Effect] = []
            done = bench.scheduler.advance(to: bench.now, limit: 10, &effects)
            bench.scheduler.finishStep()
            let fires = effects.filter { $0.type == .fired }.count
            #expect(fires <= 10)
            fired += fires
            calls += 1
        }
        #expect(done && calls >= 10)
        #expect(fired == 100)
    }

    @Test func `a flood on one clock does not hold up the other`() throws {
        let bench = Bench()
        for index in 0..<50 { try bench.create(rules(.every(1, first: .period)), id: "t\(index)") }
        try bench.create(rules(.at(Bench.wall(1))), id: "wall")
        bench.pass(1000)
        for _ in 0..<5 {
            var effects: [Effect] = []
            _ = bench.scheduler.advance(to: bench.now, limit: 10, &effects)
            bench.scheduler.finishStep()
        }
        #expect(try bench.progress("wall").state == .completed)
    }

    @Test func `all is done when a call says so`() throws {
        let bench = Bench()
        try bench.create(rules(.every(1, first: .period)))
        bench.pass(5)
        var effects: [Effect] = []
        var calls = 0
        repeat { calls += 1 } while !bench.scheduler.advance(to: bench.now, limit: 512, &effects)
        #expect(calls == 5 && effects.count == 5)
        #expect(bench.untilWake > 0)
    }

    @Test func `a timer limit refuses the next one`() throws {
        let bench = Bench(maximumTimers: 2)
        try bench.create(rules(.after(1)), id: "a")
        try bench.create(rules(.after(1)), id: "b")
        #expect(throws: TimerRefusal.timerLimit(2)) { try bench.create(rules(.after(1)), id: "c") }
        #expect(throws: TimerRefusal.exists) { try bench.create(rules(.after(1)), id: "a") }
        try bench.delete(id: "a")
        try bench.create(rules(.after(1)), id: "c")
    }
}
