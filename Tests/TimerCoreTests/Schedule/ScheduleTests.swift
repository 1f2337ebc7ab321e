import TestSupport
import Testing

@testable import TimerCore

/// The instants at which timers fire while nothing disturbs them.
struct ScheduleTests {
    @Test func `after fires once, at its instant, and completes`() throws {
        let bench = Bench()
        #expect(try bench.create(rules(.after(1000))) == ["created", "activated"])
        #expect(bench.advance(999, nanoseconds: 999_999) == [])
        #expect(bench.advance(0, nanoseconds: 1) == ["fired due 1000", "completed"])
        #expect(try bench.progress().fireCount == 1)
        #expect(bench.advance(10_000) == [])
    }

    @Test func `a due instant is a whole millisecond, rounded up`() throws {
        let bench = Bench()
        bench.pass(0, nanoseconds: 1)
        try bench.create(rules(.after(1000)))
        #expect(bench.advance(1000, nanoseconds: 999_998) == [])
        #expect(bench.advance(0, nanoseconds: 1) == ["fired due 1001", "completed"])
        #expect(bench.effects.first?.fire?.latenessUs == 0)
    }

    @Test(arguments: TimerClock.withoutCalendar)
    func `after 0 is due at once`(clock: TimerClock) throws {
        let bench = Bench()
        try bench.create(rules(.after(0)) { $0.clock = clock })
        #expect(bench.advance() == ["fired due 0", "completed"])
    }

    @Test(arguments: [1, 86_400_000, -1, -86_400_000, 0] as [Int64])
    func `at fires at its instant, a past one at once`(offset: Int64) throws {
        let bench = Bench()
        try bench.create(rules(.at(Bench.wall(offset))))
        let fired = ["fired due \(offset)", "completed"]
        if offset > 0 {
            #expect(bench.advance(offset - 1) == [])
            #expect(bench.advance(1) == fired)
        } else {
            #expect(bench.advance() == fired)
            #expect(bench.effects.first?.fire?.latenessUs == -offset * 1000)
        }
    }

    @Test func `a past at is due at once on activation again`() throws {
        let bench = Bench()
        try bench.create(rules(.at(Bench.wall(-500))) { $0.restartable = true })
        for count in 1...3 as ClosedRange<Int64> {
            #expect(bench.advance(10) == ["fired due -500", "completed"])
            #expect(try bench.progress().fireCount == count)
            #expect(try bench.apply(.activate) == ["activated"])
        }
    }

    @Test(
        arguments: [
            (Schedule.First.period, [100, 200, 300]), (.after(0), [0, 100, 200]), (.after(250), [250, 350, 450]),
            (.at(Bench.wall(40)), [40, 140, 240]), (.at(Bench.wall(0)), [0, 100, 200]),
            (.at(Bench.wall(-1)), [99, 199, 299]), (.at(Bench.wall(-100)), [0, 100, 200]),
            (.at(Bench.wall(-930)), [70, 170, 270]),
        ] as [(Schedule.First, [Int64])])
    func `every has its grid`(first: Schedule.First, expected: [Int64]) throws {
        let bench = Bench()
        try bench.create(rules(.every(100, first: first)))
        var fires = bench.advance()
        for _ in 0..<(expected.last ?? 0) { fires += bench.advance(1) }
        #expect(fires == expected.map { "fired due \($0)" })
    }

    @Test func `a grid given by at begins not before activation, to the nanosecond`() throws {
        let bench = Bench()
        bench.pass(99, nanoseconds: 999_999)
        try bench.create(rules(.every(100, first: .at(Bench.wall(0)))))
        #expect(try bench.due() == 100)
        bench.pass(0, nanoseconds: 2)
        try bench.replace(rules(.every(100, first: .at(Bench.wall(0)))))
        #expect(try bench.due() == 200)
    }

    @Test func `a fixed rate keeps its grid however late a fire was`() throws {
        let bench = Bench()
        try bench.create(rules(.every(100, first: .period)))
        #expect(bench.advance(170) == ["fired due 100"])
        #expect(try bench.due() == 200)
        #expect(bench.advance(30) == ["fired due 200"])
    }

    @Test func `a fixed delay counts from the fire`() throws {
        let bench = Bench()
        try bench.create(rules(.every(100, first: .period)) { $0.mode = .fixedDelay })
        #expect(bench.advance(170, nanoseconds: 1) == ["fired due 100"])
        #expect(try bench.due() == 271)
        #expect(bench.advance(1000) == ["fired due 271"])
    }

    @Test func `overload alone makes fires late, not missed`() throws {
        let bench = Bench()
        try bench.create(rules(.every(100, first: .period)))
        #expect(bench.advance(550) == [100, 200, 300, 400, 500].map { "fired due \($0)" })
        #expect(bench.effects.map { $0.fire?.latenessUs } == [450_000, 350_000, 250_000, 150_000, 50_000])
        #expect(bench.effects.map(\.progress.fireCount) == [1, 2, 3, 4, 5])
        #expect(try bench.progress().missedCount == 0)
    }

    @Test func `maxFires completes with the last fire, manual ones included`() throws {
        let bench = Bench()
        try bench.create(rules(.every(100, first: .period)) { $0.maxFires = 3 })
        #expect(bench.advance(100) == ["fired due 100"])
        #expect(try bench.apply(.fire) == ["fired manual 100"])
        #expect(bench.advance(100) == ["fired due 200", "completed"])
    }

    @Test func `maxFires counts from the last activation, fireCount goes on`() throws {
        let bench = Bench()
        try bench.create(
            rules(.every(100, first: .period)) {
                $0.maxFires = 2
                $0.restartable = true
            })
        bench.advance(200)
        #expect(try bench.progress().firesSinceActivation == 2)
        try bench.apply(.activate)
        #expect(try bench.progress().firesSinceActivation == 0)
        #expect(bench.advance(200) == ["fired due 300", "fired due 400", "completed"])
        #expect(try bench.progress().fireCount == 4)
        bench.restart()
        #expect(try bench.progress().firesSinceActivation == 2)
    }

    @Test func `a manual fire leaves the schedule and completes a one-shot`() throws {
        let bench = Bench()
        try bench.create(rules(.every(100, first: .period)), id: "a")
        try bench.create(rules(.after(100)), id: "b")
        bench.pass(30, nanoseconds: 7_000)
        #expect(try bench.apply(.fire, id: "a") == ["fired manual 30"])
        #expect(try bench.due("a") == 100)
        #expect(try bench.apply(.fire, id: "b") == ["fired manual 30", "completed"])
        #expect(bench.advance(100) == ["fired due 100"])
    }

    @Test func `manual start waits for activate`() throws {
        let bench = Bench()
        #expect(try bench.create(rules(.after(100)) { $0.start = .manual }) == ["created"])
        #expect(bench.advance(1000) == [])
        try bench.apply(.activate)
        #expect(bench.advance(100) == ["fired due 1100", "completed"])
    }

    @Test(arguments: [
        rules(.after(70)), rules(.at(Bench.wall(-3))), rules(.every(7, first: .period)),
        rules(.every(7, first: .after(3))) { $0.maxFires = 4 }, rules(.every(7, first: .at(Bench.wall(-2)))),
        rules(.every(7, first: .period)) { $0.until = Bench.wall(30) },
        rules(.every(7, first: .period)) {
            $0.mode = .fixedDelay
            $0.clock = .wall
        },
    ])
    func `the preview, and what is upcoming, is what fires`(timer: TimerRules) throws {
        let bench = Bench()
        let preview = try bench.scheduler.preview(timer, bench.now, count: 10).all()
        try bench.create(timer)
        #expect(bench.scheduler.upcoming(try bench.slot(), bench.now, count: 10).all() == preview)
        var fires: [Int64] = []
        for _ in 0...80 {
            bench.advance()
            fires += bench.effects.compactMap { $0.fire?.scheduledAt }
            bench.pass(1)
        }
        #expect(!preview.isEmpty && Array(fires.prefix(10)) == preview)
    }

    @Test(arguments: [TimerState.idle, .suspended, .cancelled, .completed])
    func `nothing is upcoming of a timer that does not run`(state: TimerState) throws {
        let bench = Bench()
        try bench.make(rules(.every(10, first: .period)), in: state)
        #expect(bench.scheduler.upcoming(try bench.slot(), bench.now, count: 10).all() == [])
    }
}
