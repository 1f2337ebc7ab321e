import TestSupport
import Testing

@testable import TimerCore

/// Due instants that passed while the fire loop was stalled.
struct MisfireTests {
    @Test(arguments: [TimerClock.continuous, .wall])
    func `one gap is one fire with the latest instant`(clock: TimerClock) throws {
        let bench = Bench()
        try bench.create(rules(.every(100, first: .period)) { $0.clock = clock })
        bench.advance(100)
        #expect(bench.stall(1250) == ["fired misfire 1300 missed 11"])
        #expect(bench.effects.first?.fire?.latenessUs == 50_000)
        let progress = try bench.progress()
        #expect(progress.missedCount == 11 && progress.fireCount == 2)
        #expect(bench.advance(50) == ["fired due 1400"])
    }

    @Test func `an instant at the very end of the gap belongs to it`() throws {
        let bench = Bench()
        try bench.create(rules(.every(100, first: .period)))
        #expect(bench.stall(1200) == ["fired misfire 1200 missed 11"])
        #expect(bench.advance(100) == ["fired due 1300"])
    }

    @Test func `a one-shot fires, late`() throws {
        let bench = Bench()
        try bench.create(rules(.after(100)))
        #expect(bench.stall(5000) == ["fired misfire 100", "completed"])
        #expect(try bench.progress().missedCount == 0)
    }

    @Test func `a fixed delay misses none and counts from the fire`() throws {
        let bench = Bench()
        try bench.create(rules(.every(100, first: .period)) { $0.mode = .fixedDelay })
        #expect(bench.stall(5000) == ["fired misfire 100"])
        #expect(try bench.due() == 5100)
    }

    @Test func `misfires count for maxFires as one`() throws {
        let bench = Bench()
        try bench.create(rules(.every(100, first: .period)) { $0.maxFires = 2 })
        #expect(bench.stall(1000) == ["fired misfire 1000 missed 9"])
        #expect(bench.advance(100) == ["fired due 1100", "completed"])
    }

    @Test func `a timer that was not due in the gap is left alone`() throws {
        let bench = Bench()
        try bench.create(rules(.after(1001)))
        #expect(bench.stall(1000) == [])
        #expect(bench.advance(1) == ["fired due 1001", "completed"])
    }

    @Test func `a gap handled in many small steps is still one gap`() throws {
        let bench = Bench()
        for index in 0..<20 { try bench.create(rules(.every(100, first: .after(10))), id: "t\(index)") }
        bench.pass(3000)
        bench.scheduler.noteLoopStall(until: bench.now)
        #expect(bench.advance(0, limit: 3) == Array(repeating: "fired misfire 2910 missed 29", count: 20))
    }

    @Test func `downtime is a gap`() throws {
        let bench = Bench()
        try bench.create(rules(.every(100, first: .period)))
        bench.restart()
        #expect(bench.stall(10_000) == ["fired misfire 10000 missed 99"])
    }

    @Test func `an instant that had passed when it was asked for is late, not missed`() throws {
        let bench = Bench()
        bench.stall(5000)
        try bench.create(rules(.at(Bench.wall(10))), id: "a")
        try bench.create(rules(.every(100, first: .after(50_000))), id: "b")
        try bench.apply(.reschedule, id: "b", .at(Bench.wall(30)))
        #expect(bench.advance() == ["fired due 4930", "fired due 10", "completed"])
    }

    @Test func `once it fired, its next instants can be missed`() throws {
        let bench = Bench()
        try bench.create(rules(.every(100, first: .at(Bench.wall(0)))))
        try bench.apply(.reschedule, .at(Bench.wall(-50)))
        #expect(bench.advance() == ["fired due -50"])
        #expect(bench.stall(2000) == ["fired misfire 1950 missed 19"])
    }

    @Test func `other changes of a missed timer leave it missed`() throws {
        let bench = Bench()
        try bench.create(rules(.every(100, first: .period)))
        bench.pass(5000)
        bench.scheduler.noteLoopStall(until: bench.now)
        try bench.amend { $0.retain = 5 }
        try bench.apply(.fire)
        #expect(bench.advance() == ["fired misfire 5000 missed 49"])
    }
}

/// Steps of the calendar.
struct WallStepTests {
    private func every(_ clock: TimerClock) -> TimerRules { rules(.every(100, first: .period)) { $0.clock = clock } }

    @Test func `a continuous timer does not feel them`() throws {
        let bench = Bench()
        try bench.create(every(.continuous))
        bench.stepWall(1_000_000)
        #expect(bench.advance(100) == ["fired due 1000100"])
        bench.stepWall(-2_000_000)
        #expect(bench.advance(99) == [])
        #expect(bench.advance(1) == ["fired due -999800"])
    }

    @Test func `forward over due instants makes one misfire of them`() throws {
        let bench = Bench()
        try bench.create(every(.wall))
        bench.stepWall(1050)
        #expect(bench.advance() == ["fired misfire 1000 missed 9"])
        #expect(bench.advance(50) == ["fired due 1100"])
    }

    @Test func `a small one forward only makes fires late`() throws {
        let bench = Bench()
        try bench.create(every(.wall))
        bench.now.wallOffset += 250
        #expect(bench.advance() == ["fired due 100", "fired due 200"])
    }

    @Test func `back, a wall timer waits until its instant comes again`() throws {
        let bench = Bench()
        try bench.create(every(.wall))
        #expect(bench.advance(100) == ["fired due 100"])
        bench.stepWall(-1000)
        #expect(bench.advance(1099) == [])
        #expect(bench.advance(1) == ["fired due 200"])
        #expect(try bench.progress().fireCount == 2)
    }

    @Test func `back after forward: what lies ahead again is not missed`() throws {
        let bench = Bench()
        try bench.create(every(.wall))
        bench.stepWall(1_000_000)
        #expect(bench.advance() == ["fired misfire 1000000 missed 9999"])
        bench.stepWall(-1_000_000)
        try bench.create(every(.wall), id: "new")
        #expect(bench.advance(300) == [100, 200, 300].map { "fired due \($0)" })
    }

    @Test func `back after a stall: what lies ahead again is not missed`() throws {
        let bench = Bench()
        bench.stall(10_000)
        bench.stepWall(-10_000)
        try bench.create(every(.wall))
        #expect(bench.advance(200) == ["fired due 100", "fired due 200"])
    }

    @Test func `what was missed before a step back is missed still`() throws {
        let bench = Bench()
        try bench.create(every(.wall))
        bench.pass(5000)
        bench.scheduler.noteLoopStall(until: bench.now)
        bench.stepWall(-2000)
        #expect(bench.advance() == ["fired misfire 3000 missed 29"])
    }

    @Test func `steps keep the wall clock's timers in their order`() throws {
        var random = SeededGenerator(seed: 5)
        let bench = Bench()
        for index in 0..<300 { try bench.create(rules(.at(Bench.wall(random.number(1...2000)))), id: "t\(index)") }
        var fired: [Int64] = []
        for _ in 0..<400 where fired.count < 300 {
            bench.advance(random.number(0...30))
            for fire in bench.effects.compactMap(\.fire) {
                #expect(fire.scheduledAt <= bench.now.wall)
                fired.append(fire.scheduledAt)
            }
            if random.chance(oneIn: 5) { bench.stepWall(-random.number(1...40)) }
        }
        #expect(fired == fired.sorted() && fired.count == 300)
    }

    @Test func `waking is never planned after the next fire`() throws {
        let bench = Bench()
        try bench.create(every(.wall), id: "wall")
        try bench.create(rules(.after(500)), id: "continuous")
        #expect(bench.untilWake <= 100)
        bench.stepWall(-1000)
        #expect(bench.untilWake <= 500)
        bench.stepWall(990)
        bench.scheduler.rebuildWallWheel(bench.now)
        #expect(bench.untilWake <= 110)
        bench.stepWall(9000)
        #expect(bench.untilWake <= 0)
    }
}
