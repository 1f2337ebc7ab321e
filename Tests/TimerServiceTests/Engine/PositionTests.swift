import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

struct PositionTests {
    private static func position(_ nanoseconds: Int64) -> Int64 {
        PositionClock.position(at: Now(elapsed: nanoseconds, wallOffset: 0))
    }

    @Test func `a second is 2^30 positions, a nanosecond at least one`() {
        #expect(Self.position(0) == 0)
        #expect(Self.position(1_700_000_000_000_000_000) == 1_700_000_000 << 30)
        #expect(Self.position(1_700_000_000_500_000_000) == 1_700_000_000 << 30 + 1 << 29)
        var last = Self.position(1_700_000_000_000_000_000)
        for nanosecond in 1_700_000_000_000_000_001...1_700_000_000_000_001_000 {
            #expect(Self.position(Int64(nanosecond)) > last)
            last = Self.position(Int64(nanosecond))
        }
    }

    @Test func `no calendar exhausts the positions, and none is negative`() {
        #expect(Self.position((1 << 32) * 1_000_000_000 - 1) < 1 << 62)
        #expect(Self.position((1 << 32) * 1_000_000_000) == 1 << 62)
        #expect(Self.position(.max) == 1 << 62)
        #expect(Self.position(-1_000_000_000) == 0)
    }

    @Test func `each batch begins at the position of its instant, its records follow each other`() throws {
        let rig = try Rig()
        let first = try rig.create("a")
        try rig.settle()
        rig.time.pass(milliseconds: 1)
        let second = try rig.create("b")
        try rig.settle()
        let log = try rows(of: rig.store)
        #expect(log.map(\.first) == [1_700_000_000_000, 1_700_000_000_001].map { Self.position($0 * 1_000_000) })
        #expect(log.map(\.last) == [first, second])
        #expect(log.map { $0.last - $0.first } == [1, 1])
        rig.stop()
    }

    @Test func `a timer is shown as of the newest event, or of its own newest where that is not shown yet`() throws {
        let rig = try Rig(starts: false)
        func shown(_ id: String) -> Int64 {
            rig.engine.turn { (turn: borrowing Turn) in
                var view = TimerView()
                if let slot = turn.find(rig.key(id)) { turn.copy(slot, into: &view) }
                return view.eventID
            }
        }
        let first = try rig.create("a")
        #expect(shown("a") == first)
        rig.start()
        let second = try rig.create("b")
        try rig.settle()
        #expect(shown("a") == second && shown("b") == second)
        rig.stop()
    }

    @Test func `before each batch of a shared log there is room for what settles an append`() throws {
        let rig = try Rig(ContestedLogStore())
        for name in ["a", "b", "c"] {
            try rig.create(name)
            try rig.settle()
        }
        let log = try rows(of: rig.store)
        #expect(log.map { $0.last - $0.first } == [1, 1, 1])
        #expect(zip(log.dropFirst(), log).allSatisfy { $0.first == $1.last + 1 + AppendRules.settlements })
        rig.stop()
    }

    @Test func `the events of a timer link back, and the log folds to what lives`() throws {
        let rig = try Rig(ContestedLogStore())
        try rig.create("a")
        for command in [.suspend, .resume, .cancel] as [TimerCommand] {
            rig.time.pass(milliseconds: 3)
            try rig.apply("a", command)
        }
        try rig.settle()
        let events = try rig.records().filter(\.isEvent)
        let types = events.compactMap { if case .event(let type, _, _) = $0.content { type } else { nil } }
        #expect(types == [.created, .activated, .suspended, .resumed, .cancelled])
        #expect(events.map(\.previous) == [0] + events.dropLast().map(\.position))
        try rig.expectFoldIsLive()
        rig.stop()
    }

    @Test func `nothing given lies beyond what the next owner is told, however the calendar is set`() throws {
        let rig = try Rig()
        let first = try rig.create("a")
        try rig.settle()
        let clock = { PositionClock.position(at: rig.engine.turn { $0.now }) }
        #expect(rig.engine.claimedThrough >= first)
        rig.time.step(milliseconds: -60_000)
        #expect(clock() < first)
        let second = try rig.create("b")
        #expect(rig.engine.claimedThrough == second)
        rig.time.step(milliseconds: 120_000)
        #expect(rig.engine.claimedThrough == clock())
        rig.stop()
    }

    @Test func `a batch follows the last one while the calendar is behind it`() throws {
        let rig = try Rig()
        let first = try rig.create("a")
        try rig.settle()
        rig.time.step(milliseconds: -60_000)
        #expect(try rig.create("b") == first + 2)
        try rig.settle()
        rig.stop()
    }

    @Test func `two logs that begin in the same second share no position`() throws {
        let time = ManualTime()
        var given: [Int64] = []
        for _ in 0..<5 {
            let rig = try Rig(MemoryLogStore(), time: time)
            for number in 0..<100 { given.append(try rig.create("t\(number)")) }
            try rig.settle()
            rig.stop()
            time.pass(nanoseconds: 1000)
        }
        #expect(Set(given).count == given.count)
        #expect(given == given.sorted())
    }
}
