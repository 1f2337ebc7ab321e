import Testing

@testable import TimerCore

/// The fires after a gap, by `misfire` and `misfireGrace`.
struct MisfirePolicyTests {
    private func bench(_ policy: MisfirePolicy, _ edit: (inout TimerRules) -> Void = { _ in }) throws -> Bench {
        let bench = Bench()
        try bench.create(
            rules(.every(100, first: .period)) {
                $0.misfire = policy
                edit(&$0)
            })
        return bench
    }

    /// Runs the fire loop, one millisecond a round, until nothing is left to catch up.
    private func catchUp(_ bench: Bench) -> [String] {
        var lines: [String] = []
        for _ in 0..<5000 where !bench.scheduler.catchUp.isEmpty { lines += bench.advance(1) }
        return lines
    }

    @Test func `each instant fires, oldest first, and no other twice`() throws {
        let bench = try bench(.all)
        var lines = bench.stall(1250)
        lines += catchUp(bench)
        #expect(lines == (1...12).map { "fired misfire \($0 * 100)" })
        #expect(bench.advance(50) == ["fired due 1300"])
        #expect(try bench.progress().missedCount == 0)
    }

    @Test func `the latest thousand of a long gap fire, the others are counted`() throws {
        let bench = try bench(.all)
        var lines = bench.stall(150_050)
        #expect(lines.first == "fired misfire 50100 missed 500")
        lines += catchUp(bench)
        #expect(lines.filter { $0.hasPrefix("fired misfire") }.count == 1000)
        let progress = try bench.progress()
        #expect(progress.missedCount == 500)
        #expect(progress.fireCount + progress.missedCount == (progress.due - Bench.elapsedStart) / 100 - 1)
    }

    @Test func `timers that catch up leave room for the others`() throws {
        let bench = Bench()
        for number in 0..<500 {
            try bench.create(rules(.every(100, first: .period)) { $0.misfire = .all }, id: "t\(number)")
        }
        try bench.create(rules(.after(2001)), id: "new")
        bench.stall(2000)
        let first = bench.advance(1)
        #expect(first.contains("fired due 2001"))
        #expect(first.filter { $0.hasPrefix("fired misfire") }.count == Scheduler.catchUpsAMillisecond)
        #expect(bench.untilWake == 1)
    }

    @Test func `a command ends the catching up`() throws {
        let bench = try bench(.all)
        bench.stall(1000)
        try bench.apply(.suspend)
        #expect(bench.advance(50) == [])
        try bench.apply(.cancel)
        #expect(bench.advance(50) == [])
    }

    @Test func `it is one catching up over a restart`() throws {
        let bench = try bench(.all)
        var lines = bench.stall(1250)
        lines += bench.advance(1)
        bench.restart()
        lines += bench.stall(2000)
        lines += catchUp(bench)
        #expect(lines == (1...32).map { "fired misfire \($0 * 100)" })
    }

    @Test func `skip counts missed instants and records no event`() throws {
        let bench = try bench(.skip)
        #expect(bench.stall(1250) == ["untold"])
        let progress = try bench.progress()
        #expect(progress.missedCount == 12 && progress.fireCount == 0 && progress.version == 2)
        #expect(bench.advance(50) == ["fired due 1300"])
    }

    @Test(arguments: [Schedule.after(100), .at(Bench.wall(100))])
    func `a skipped one-shot completes unfired`(schedule: Schedule) throws {
        let bench = Bench()
        try bench.create(rules(schedule) { $0.misfire = .skip })
        #expect(bench.stall(1250) == ["completed"])
        #expect(try bench.progress().missedCount == 1)
    }

    private static let graces: [(MisfirePolicy, Int64, [String])] = [
        (.once, 51, ["fired misfire 1200 missed 11"]), (.once, 50, ["fired misfire 1200 missed 11"]),
        (.once, 49, ["untold"]), (.all, 150, ["fired misfire 1100 missed 10", "fired misfire 1200"]),
        (.all, 49, ["untold"]), (.skip, 5000, ["untold"]),
    ]

    @Test(arguments: graces)
    func `what is older than the grace is dropped`(
        policy: MisfirePolicy, grace: Int64, lines: [String]
    ) throws {
        let bench = try bench(policy) { $0.misfireGrace = grace }
        #expect(bench.stall(1250) + catchUp(bench) == lines)
        let progress = try bench.progress()
        #expect(progress.fireCount + progress.missedCount == 12)
        #expect(try bench.due() == 1300)
    }

    @Test func `a dropped last instant ends the timer`() throws {
        let bench = try bench(.skip) { $0.until = Bench.wall(1200) }
        #expect(bench.stall(1250) == ["completed"])
        #expect(try bench.progress().missedCount == 12)
    }

    @Test func `maxFires ends the catching up`() throws {
        let bench = try bench(.all) { $0.maxFires = 3 }
        #expect(
            bench.stall(1250) + catchUp(bench) == [
                "fired misfire 100", "fired misfire 200", "fired misfire 300", "completed",
            ])
    }

    @Test(arguments: MisfirePolicy.allCases)
    func `a step of the calendar forward is a gap for the wall clock alone`(policy: MisfirePolicy) throws {
        let bench = try bench(policy) { $0.clock = .wall }
        try bench.create(rules(.every(100, first: .period)) { $0.misfire = policy }, id: "elapsed")
        bench.advance(50)
        bench.stepWall(1200)
        let lines = bench.advance() + catchUp(bench)
        switch policy {
        case .once: #expect(lines == ["fired misfire 1200 missed 11"])
        case .all:
            #expect(lines.filter { $0.hasPrefix("fired misfire") } == (1...12).map { "fired misfire \($0 * 100)" })
        case .skip: #expect(lines == ["untold"])
        }
    }
}
