import TestSupport
import Testing

@testable import TimerCore

/// Moving the next due instant.
struct RescheduleTests {
    @Test(arguments: TimerClock.withoutCalendar, [RescheduleTarget.after(40), .at(Bench.wall(70))])
    func `the next due moves there, a grid goes on from it`(clock: TimerClock, target: RescheduleTarget) throws {
        let bench = Bench()
        try bench.create(rules(.every(100, first: .period)) { $0.clock = clock })
        bench.advance(30)
        #expect(try bench.apply(.reschedule, target) == ["rescheduled"])
        #expect(try bench.due() == 70)
        #expect(bench.advance(140) == ["fired due 70", "fired due 170"])
    }

    @Test func `it is rounded up, never early`() throws {
        let bench = Bench()
        try bench.create(rules(.after(1000)))
        bench.pass(0, nanoseconds: 500)
        try bench.apply(.reschedule, .after(10))
        #expect(bench.advance(10) == [])
        #expect(bench.advance(1) == ["fired due 11", "completed"])
    }

    @Test func `a continuous timer moved to a calendar instant keeps the distance over a step`() throws {
        let bench = Bench()
        bench.stepWall(-300)
        try bench.create(rules(.after(1000)))
        try bench.apply(.reschedule, .at(Bench.wall(200)))
        bench.stepWall(250)
        #expect(bench.advance(499) == [])
        #expect(bench.advance(1) == ["fired due 450", "completed"])
    }

    @Test func `into the past it is due at once`() throws {
        let bench = Bench()
        try bench.create(rules(.after(1000)))
        #expect(try bench.apply(.reschedule, .at(Bench.wall(-5000))) == ["rescheduled"])
        #expect(bench.advance() == ["fired due -5000", "completed"])
    }

    @Test(arguments: [TimerState.running, .suspended], TimerClock.withoutCalendar)
    func `a grid laid far into the past fires once, not for every point of it`(
        state: TimerState, clock: TimerClock
    ) throws {
        let bench = Bench()
        try bench.create(
            rules(.every(1, first: .after(500))) {
                $0.clock = clock
                $0.onResume = .deadline
            })
        bench.pass(20)
        if state == .suspended { try bench.apply(.suspend) }
        try bench.apply(.reschedule, .at(-62_167_219_200_000))
        if state == .suspended {
            #expect(try bench.apply(.resume) == ["resumed", "fired resumed 20"])
        } else {
            #expect(bench.advance() == ["fired due 20"])
        }
        #expect(try bench.progress().missedCount == 0)
        #expect(bench.advance(2) == ["fired due 21", "fired due 22"])
    }

    @Test func `the phase of a grid laid into the past holds`() throws {
        let bench = Bench()
        try bench.create(rules(.every(100, first: .period)))
        bench.pass(50)
        try bench.apply(.reschedule, .at(Bench.wall(-1030)))
        #expect(bench.advance(100) == ["fired due -30", "fired due 70"])
    }

    @Test func `a fixed delay in the past fires once and counts from there`() throws {
        let bench = Bench()
        try bench.create(rules(.every(100, first: .period)) { $0.mode = .fixedDelay })
        bench.pass(50)
        try bench.apply(.reschedule, .at(Bench.wall(-1030)))
        #expect(bench.advance() == ["fired due -1030"])
        #expect(try bench.due() == 150)
    }

    @Test(
        arguments: [
            (RescheduleTarget.after(400), 400_000), (.at(Bench.wall(500)), 400_000), (.at(Bench.wall(-7)), 0),
            (.after(0), 0),
        ] as [(RescheduleTarget, Int64)])
    func `suspended with its remaining time, that changes`(target: RescheduleTarget, left: Int64) throws {
        let bench = Bench()
        try bench.create(rules(.after(1000)))
        bench.pass(100)
        try bench.apply(.suspend)
        #expect(try bench.apply(.reschedule, target) == ["rescheduled"])
        #expect(try bench.progress().state == .suspended)
        #expect(try bench.progress().due == left)
        bench.pass(50)
        try bench.apply(.resume)
        #expect(try bench.due() == 150 + left / 1000)
    }

    @Test(arguments: [
        (ResumePolicy.deadline, RescheduleTarget.after(50), ["resumed", "fired resumed 150", "completed"]),
        (.skip, .after(50), ["resumed", "completed"]),
        (.deadline, .at(Bench.wall(150)), ["resumed", "fired resumed 150", "completed"]),
        (.deadline, .after(300), ["resumed"]),
    ])
    func `suspended with its grid, the due instant moves`(
        policy: ResumePolicy, target: RescheduleTarget, expected: [String]
    ) throws {
        let bench = Bench()
        try bench.create(rules(.after(1000)) { $0.onResume = policy })
        bench.pass(100)
        try bench.apply(.suspend)
        try bench.apply(.reschedule, target)
        bench.pass(100)
        #expect(try bench.apply(.resume) == expected)
    }
}
