import Testing

@testable import TimerCore

private let longest: Int64 = 36_525 * 86_400_000
private let year0: Int64 = -62_167_219_200_000
private let year10000: Int64 = 253_402_300_800_000

/// The limits of the contract's ranges: nothing traps there.
struct ExtremesTests {
    static let schedules: [Schedule] = [
        .after(longest), .after(0), .at(year0), .at(year10000), .at(-1), .at(0), .every(1, first: .period),
        .every(longest, first: .period), .every(longest, first: .after(longest)), .every(1, first: .at(year0)),
        .every(longest, first: .at(year0)), .every(1, first: .at(year10000)), .every(longest, first: .at(year10000)),
        .every(longest - 1, first: .at(-1)),
    ]
    static let offsets: [Int64] = [0, Bench.wallStart - Bench.elapsedStart, 9_000_000_000_000, -4_000_000]

    @Test(arguments: schedules, offsets)
    func `every command works on every schedule`(schedule: Schedule, offset: Int64) throws {
        for policy in ResumePolicy.allCases {
            for until in [nil, year0, year10000] as [Int64?] {
                let bench = Bench()
                bench.now.wallOffset = offset
                let timer = rules(schedule) {
                    $0.onResume = policy
                    $0.until = until
                    $0.restartable = true
                    $0.retain = longest
                }
                do throws(TimerRefusal) { try bench.create(timer) } catch {
                    #expect(error == .invalidSchedule(pointer: "/until", reason: "no fire is due at or before `until`"))
                    continue
                }
                try Self.exercise(bench)
            }
        }
    }

    /// Takes a timer through every command; a refusal is fine, a trap is not.
    private static func exercise(_ bench: Bench) throws {
        let targets: [RescheduleTarget] = [.after(0), .after(longest), .at(year0), .at(year10000)]
        for target in targets {
            for state in [TimerState.running, .suspended] {
                if try bench.progress().state.hasEnded { try bench.apply(.activate) }
                if state == .suspended { _ = try? bench.apply(.suspend) }
                _ = try? bench.apply(.reschedule, target)
                _ = bench.scheduler.upcoming(try bench.slot(), bench.now, count: 1000).all()
                var after: Scheduler.DuePlace?
                _ = bench.soonest(after: &after, limit: 10)
                bench.restart()
                var effects: [Effect] = []
                for _ in 0..<3 {
                    _ = bench.scheduler.advance(to: bench.now, limit: 10, &effects)
                    bench.scheduler.finishStep()
                }
                _ = try? bench.apply(.resume)
                _ = try? bench.amend { $0.onResume = .deadline }
                _ = try? bench.amend { $0.retain = 0 }
                _ = try? bench.amend { $0.retain = longest }
                bench.pass(1)
            }
        }
        try bench.delete()
    }

    @Test(arguments: [-1, year0, 0])
    func `an instant before 1970 fires at once, after a restart too`(instant: Int64) throws {
        let bench = Bench()
        try bench.create(rules(.at(instant)))
        try bench.create(rules(.after(100)), id: "later")
        bench.restart(["t", "later"])
        #expect(bench.advance() == ["fired due \(instant - Bench.wallStart)", "completed"])
        #expect(bench.advance(100) == ["fired due 100", "completed"])
    }

    @Test func `a calendar at the start of 1970 serves wall timers`() throws {
        let bench = Bench()
        bench.now.wallOffset = -Bench.elapsedStart
        bench.scheduler.rebuildWallWheel(bench.now)
        try bench.create(rules(.every(100, first: .at(year0))))
        #expect(bench.advance(100).count == 2)
        bench.stepWall(10_000)
        bench.stepWall(-10_050)
        #expect(bench.advance(149) == [])
        #expect(bench.advance(1).count == 1)
    }

    @Test func `the century fits`() throws {
        let bench = Bench()
        try bench.create(rules(.after(longest)))
        #expect(bench.advance(longest - 1) == [])
        #expect(bench.advance(1) == ["fired due \(longest)", "completed"])
    }

    @Test func `a grid from the year 0 is on its grid`() throws {
        let bench = Bench()
        let period: Int64 = 7_777_777
        try bench.create(rules(.every(period, first: .at(year0 + 5))))
        let due = Bench.wall(try bench.due())
        #expect((due - year0 - 5) % period == 0)
        #expect(due >= Bench.wallStart && due < Bench.wallStart + period)
    }

    @Test func `what is upcoming ends with the year 9999`() throws {
        let fires = try Scheduler(secret: []).preview(rules(.every(longest, first: .period)), Bench().now, count: 1000)
            .all()
        #expect(fires.count == 79)
        #expect(fires.allSatisfy { $0 < year10000 })
        #expect(
            try Scheduler(secret: []).preview(rules(.at(year10000 - 1)), Bench().now, count: 5).all() == [year10000 - 1]
        )
    }

    @Test func `waking for the end of time is the end of the clock`() throws {
        let bench = Bench()
        try bench.create(rules(.at(year10000 - 1)))
        #expect(bench.scheduler.nextWake(bench.now) == .max)
    }
}
