import TestSupport
import Testing

@testable import TimerCore

/// The next due instant after suspend and resume.
struct ResumeTests {
    @Test func `remaining: the time left at suspend is the time left at resume`() throws {
        let bench = Bench()
        try bench.create(rules(.after(1000)))
        bench.advance(400, nanoseconds: 300_500)
        #expect(try bench.apply(.suspend) == ["suspended"])
        // Both commands count as given at the next whole millisecond: at 401 and at 5401.
        #expect(try bench.progress().due == 599_000)
        #expect(bench.advance(5000, nanoseconds: 100_000) == [])
        #expect(try bench.apply(.resume) == ["resumed"])
        #expect(bench.advance(599, nanoseconds: 599_499) == [])
        #expect(bench.advance(1) == ["fired due 6000", "completed"])
    }

    @Test func `remaining: what is shown is the same before, during and after a pause`() throws {
        let parts: [Int64] = [0, 1, 300_500, 500_000, 999_999]
        for (before, between) in parts.flatMap({ part in parts.map { (part, $0) } }) {
            let bench = Bench()
            try bench.create(rules(.after(1000)))
            func shown() throws -> Int64 {
                bench.now.millisecondsLeft(until: try bench.progress().due, on: .continuous)
            }
            #expect(try shown() == 1000)
            bench.advance(400, nanoseconds: before)
            let left = try shown()
            try bench.apply(.suspend)
            #expect(try bench.progress().due == left * 1000)
            bench.advance(5000, nanoseconds: between)
            try bench.apply(.resume)
            #expect(try shown() == left, "\(before) and \(between) ns")
        }
    }

    @Test func `remaining: a repeating grid shifts by the pause`() throws {
        let bench = Bench()
        try bench.create(rules(.every(100, first: .period)))
        bench.advance(130)
        try bench.apply(.suspend)
        bench.advance(1000)
        try bench.apply(.resume)
        #expect(bench.advance(300) == [1200, 1300, 1400].map { "fired due \($0)" })
        #expect(try bench.progress().missedCount == 0)
    }

    @Test func `remaining: an overdue timer has nothing left and fires at resume`() throws {
        let bench = Bench()
        try bench.create(rules(.every(100, first: .period)))
        bench.pass(130)
        try bench.apply(.suspend)
        #expect(try bench.progress().due == 0)
        #expect(bench.advance(1000) == [])
        try bench.apply(.resume)
        #expect(bench.advance(100) == ["fired due 1130", "fired due 1230"])
    }

    @Test(arguments: TimerClock.withoutCalendar)
    func `deadline: what fell into the pause comes as one`(clock: TimerClock) throws {
        let bench = Bench()
        try bench.create(
            rules(.every(100, first: .period)) {
                $0.onResume = .deadline
                $0.clock = clock
            })
        bench.advance(130)
        try bench.apply(.suspend)
        #expect(bench.advance(330) == [])
        #expect(try bench.apply(.resume) == ["resumed", "fired resumed 400 missed 2"])
        #expect(
            bench.effects.map(\.progress.version) == [
                bench.effects[0].progress.version, bench.effects[0].progress.version,
            ])
        #expect(bench.effects.last?.fire?.latenessUs == 60_000)
        #expect(try bench.progress().missedCount == 2)
        #expect(bench.advance(40) == ["fired due 500"])
    }

    @Test func `skip: what fell into the pause is dropped and counted`() throws {
        let bench = Bench()
        try bench.create(rules(.every(100, first: .period)) { $0.onResume = .skip })
        bench.advance(130)
        try bench.apply(.suspend)
        bench.advance(330)
        #expect(try bench.apply(.resume) == ["resumed"])
        #expect(try bench.progress().missedCount == 3)
        #expect(bench.advance(40) == ["fired due 500"])
    }

    @Test(arguments: [
        (ResumePolicy.deadline, ["resumed", "fired resumed 500 missed 4"]), (.skip, ["resumed"]),
    ])
    func `a due instant at the very resume fell into the pause`(policy: ResumePolicy, expected: [String]) throws {
        let bench = Bench()
        try bench.create(rules(.every(100, first: .period)) { $0.onResume = policy })
        try bench.apply(.suspend)
        bench.pass(500)
        #expect(try bench.apply(.resume) == expected)
        #expect(try bench.due() == 600)
    }

    @Test(arguments: [ResumePolicy.deadline, .skip])
    func `a pause without a due instant changes nothing`(policy: ResumePolicy) throws {
        let bench = Bench()
        try bench.create(rules(.every(100, first: .period)) { $0.onResume = policy })
        try bench.apply(.suspend)
        bench.pass(99, nanoseconds: 999_999)
        #expect(try bench.apply(.resume) == ["resumed"])
        #expect(bench.advance(1) == ["fired due 100"])
    }

    @Test(arguments: [
        (
            Schedule.after(100), ResumePolicy.deadline, TimerClock.continuous,
            ["resumed", "fired resumed 100", "completed"]
        ),
        (.after(100), .skip, .continuous, ["resumed", "completed"]),
        (.after(100), .deadline, .wall, ["resumed", "fired resumed 100", "completed"]),
        (.after(100), .skip, .wall, ["resumed", "completed"]),
        (.after(100), .remaining, .wall, ["resumed", "fired resumed 100", "completed"]),
        (.at(Bench.wall(100)), .remaining, .wall, ["resumed", "fired resumed 100", "completed"]),
        (.at(Bench.wall(100)), .deadline, .wall, ["resumed", "fired resumed 100", "completed"]),
        (.at(Bench.wall(100)), .skip, .wall, ["resumed", "completed"]),
    ])
    func `a one-shot whose instant fell into the pause`(
        schedule: Schedule, policy: ResumePolicy, clock: TimerClock, expected: [String]
    ) throws {
        let bench = Bench()
        try bench.create(
            rules(schedule) {
                $0.onResume = policy
                $0.clock = clock
            })
        try bench.apply(.suspend)
        #expect(bench.advance(250) == [])
        #expect(try bench.apply(.resume) == expected)
        #expect(try bench.progress().missedCount == (policy == .skip ? 1 : 0))
        #expect(try bench.progress().fireCount == (policy == .skip ? 0 : 1))
    }

    @Test func `remaining means deadline on the wall clock`() throws {
        let bench = Bench()
        try bench.create(rules(.every(100, first: .at(Bench.wall(0)))))
        bench.advance()
        try bench.apply(.suspend)
        bench.advance(250)
        #expect(try bench.apply(.resume) == ["resumed", "fired resumed 200 missed 1"])
    }

    @Test(arguments: [ResumePolicy.deadline, .skip])
    func `a fixed delay misses one at most`(policy: ResumePolicy) throws {
        let bench = Bench()
        try bench.create(
            rules(.every(100, first: .period)) {
                $0.mode = .fixedDelay
                $0.onResume = policy
            })
        try bench.apply(.suspend)
        bench.pass(1050)
        #expect(try bench.apply(.resume) == (policy == .deadline ? ["resumed", "fired resumed 100"] : ["resumed"]))
        #expect(try bench.progress().missedCount == (policy == .deadline ? 0 : 1))
        #expect(try bench.due() == 1150)
    }

    @Test func `the fire that resume brings counts for maxFires`() throws {
        let bench = Bench()
        try bench.create(
            rules(.every(100, first: .period)) {
                $0.onResume = .deadline
                $0.maxFires = 1
            })
        try bench.apply(.suspend)
        bench.pass(350)
        #expect(try bench.apply(.resume) == ["resumed", "fired resumed 300 missed 2", "completed"])
    }

    @Test func `resume fires no more than maxFires allows, whatever fell into the pause`() throws {
        let bench = Bench()
        try bench.create(rules(.every(100, first: .period)) { $0.onResume = .deadline })
        bench.advance(200)
        try bench.apply(.suspend)
        try bench.amend { $0.maxFires = 2 }
        bench.pass(350)
        #expect(try bench.apply(.resume) == ["resumed", "completed"])
        #expect(try bench.progress().fireCount == 2)
    }

    @Test func `the downtime of the server is pause, never misfire`() throws {
        let bench = Bench()
        try bench.create(rules(.every(100, first: .period)) { $0.onResume = .deadline }, id: "a")
        try bench.create(rules(.after(100)), id: "b")
        for id in ["a", "b"] { try bench.apply(.suspend, id: id) }
        bench.restart(["a", "b"])
        #expect(bench.stall(10_000) == [])
        #expect(try bench.apply(.resume, id: "a") == ["resumed", "fired resumed 10000 missed 99"])
        try bench.apply(.resume, id: "b")
        #expect(bench.advance(99) == [])
        #expect(bench.advance(1) == ["fired due 10100", "fired due 10100", "completed"])
    }

    @Test func `many pauses shift a grid by the pauses alone`() throws {
        let bench = Bench()
        try bench.create(rules(.every(1000, first: .period)))
        for _ in 0..<50 {
            bench.advance(10)
            try bench.apply(.suspend)
            bench.advance(7)
            try bench.apply(.resume)
        }
        #expect(try bench.due() == 1350)
    }
}
