import TestSupport
import Testing

@testable import TimerCore

/// The instant after which no fire is due.
struct UntilTests {
    private func every(_ until: Int64, _ edit: (inout TimerRules) -> Void = { _ in }) -> TimerRules {
        rules(.every(100, first: .period)) {
            $0.until = Bench.wall(until)
            edit(&$0)
        }
    }

    @Test(arguments: TimerClock.withoutCalendar, [(300, 3), (299, 2), (399, 3), (100, 1)] as [(Int64, Int64)])
    func `completes with the last fire that fits`(clock: TimerClock, until: (at: Int64, fires: Int64)) throws {
        let bench = Bench()
        try bench.create(every(until.at) { $0.clock = clock })
        let fires = (1...until.fires).map { "fired due \($0 * 100)" }
        #expect(bench.advance(1000) == fires + ["completed"])
    }

    @Test(arguments: [StartPolicy.now, .manual])
    func `a timer none of whose fires fits is refused`(start: StartPolicy) throws {
        let bench = Bench()
        let refusal = TimerRefusal.invalidSchedule(pointer: "/until", reason: "no fire is due at or before `until`")
        #expect(throws: refusal) { try bench.create(every(99) { $0.start = start }) }
        #expect(!bench.exists() && bench.effects == [])
        #expect(throws: refusal) { try Scheduler(secret: []).preview(every(99), bench.now, count: 1).all() }
        try bench.create(every(100) { $0.start = start })
    }

    @Test func `a refused schedule outranks an id that is taken`() throws {
        let bench = Bench()
        try bench.create(every(100))
        #expect(throws: TimerRefusal.invalidSchedule(pointer: "/until", reason: "no fire is due at or before `until`"))
        {
            try bench.create(every(99))
        }
        #expect(throws: TimerRefusal.exists) { try bench.create(every(100)) }
    }

    @Test func `is not watched while idle; activate past it completes`() throws {
        let bench = Bench()
        try bench.create(every(150) { $0.start = .manual })
        #expect(bench.advance(60) == [])
        #expect(try bench.progress().state == .idle)
        #expect(try bench.apply(.activate) == ["activated", "completed"])
        #expect(try bench.progress().state == .completed)
        #expect(bench.effects.map(\.progress.version) == [2, 2])
    }

    @Test(arguments: [
        (ResumePolicy.remaining, ["resumed", "completed"]),
        (.deadline, ["resumed", "fired resumed 200 missed 1", "completed"]),
        (.skip, ["resumed", "completed"]),
    ])
    func `is not watched while suspended; resume past it completes`(policy: ResumePolicy, expected: [String]) throws {
        let bench = Bench()
        try bench.create(every(250) { $0.onResume = policy })
        bench.advance(50)
        try bench.apply(.suspend)
        #expect(bench.advance(500) == [])
        #expect(try bench.apply(.resume) == expected)
        #expect(try bench.progress().state == .completed)
        #expect(try bench.progress().missedCount == [.remaining: 0, .deadline: 1, .skip: 2][policy])
    }

    @Test func `what is upcoming ends with it`() throws {
        let bench = Bench()
        try bench.create(every(350))
        #expect(
            bench.scheduler.upcoming(try bench.slot(), bench.now, count: 9).all().map { $0 - Bench.wallStart } == [
                100, 200, 300,
            ])
    }

    @Test func `a continuous timer follows it over a step of the calendar back`() throws {
        let bench = Bench()
        try bench.create(every(250))
        bench.advance(100)
        bench.stepWall(-1000)
        #expect(bench.advance(1000).count == 10)
        // The twelfth fire, at 1200 elapsed, is at 200 by the calendar; the next would be at 300.
        #expect(bench.advance(100) == ["fired due 200", "completed"])
    }

    @Test func `a continuous timer whose fire a step of the calendar put past it completes unfired`() throws {
        let bench = Bench()
        try bench.create(every(250))
        bench.stepWall(5000)
        #expect(bench.advance(99) == [])
        #expect(bench.advance(1) == ["completed"])
        #expect(try bench.progress().fireCount == 0)
    }

    @Test func `a misfire stands for what fits, no more`() throws {
        let bench = Bench()
        try bench.create(every(350))
        #expect(bench.stall(10_000) == ["fired misfire 300 missed 2", "completed"])
    }

    @Test(arguments: [(RescheduleTarget.after(251), "/after"), (.at(Bench.wall(251)), "/at")])
    func `a running timer can't be rescheduled past it`(target: RescheduleTarget, pointer: String) throws {
        let bench = Bench()
        try bench.create(every(250))
        let before = try bench.progress()
        let refusal = TimerRefusal.invalidSchedule(pointer: pointer, reason: "the timer's `until` lies before that")
        #expect(throws: refusal) { try bench.apply(.reschedule, target) }
        #expect(throws: refusal) { try bench.apply(.reschedule, target, if: .oneOf([77])) }
        #expect(try bench.progress() == before)
        #expect(try bench.apply(.reschedule, .after(250)) == ["rescheduled"])
        #expect(bench.advance(250) == ["fired due 250", "completed"])
    }

    @Test(arguments: ResumePolicy.allCases, [RescheduleTarget.after(251), .at(Bench.wall(251))])
    func `a suspended timer can be, and completes when resumed`(policy: ResumePolicy, target: RescheduleTarget) throws {
        let bench = Bench()
        try bench.create(every(250) { $0.onResume = policy })
        try bench.apply(.suspend)
        #expect(try bench.apply(.reschedule, target) == ["rescheduled"])
        #expect(try bench.apply(.resume) == ["resumed", "completed"])
    }
}
