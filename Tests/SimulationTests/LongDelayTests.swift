import Testing

@testable import TimerCore
@testable import TimerService

/// Delays at which a counter of some width, or a calendar, turns over.
struct LongDelayTests {
    static let delays: [Int64] = [
        25 * RandomRules.day, 50 * RandomRules.day, 366 * RandomRules.day, 32_872 * RandomRules.day,
        (1 << 31) - 1, 1 << 31, (1 << 31) + 1, (1 << 32) - 1, 1 << 32, (1 << 32) + 1, TimerRules.longestDuration,
    ]
    /// Milliseconds since 1970 at which a calendar of 32 bits ends.
    static let endOf32Bits: Int64 = 2_147_483_648_000

    /// A server whose process may end.
    private struct Rig {
        let store = SimulatedStore()
        let time: SimulatedTime
        var server: Server

        init(calendar: Int64 = 1_700_000_000_000) throws {
            time = SimulatedTime(calendar: calendar * 1_000_000)
            server = try Server(store, time)
        }

        func create(_ rules: TimerRules) throws {
            try server.engine.turn { turn -> Result<Void, any Error> in
                Result {
                    var definition = RandomRules.definition("a", rules)
                    let key = TimerKey(id: Array("a".utf8).span, siphash: server.engine.scheduler.siphash)
                    _ = try turn.create(key, definition: &definition)
                }
            }.get()
            #expect(server.commitStep())
        }

        mutating func restart() throws { server = try Server(store, time) }

        /// Wakes when the alarm rings until the timer fired once more. Returns when it fired, in wall milliseconds.
        func nextFire() throws -> Int64 {
            let before = server.held()["a"]?.progress.fireCount ?? 0
            // A wheel's entry comes down level by level: at most one waking each.
            for _ in 0..<64 {
                while case .more = server.engine.fire() {}
                if server.hasWork { _ = server.commitStep() }
                let progress = try #require(server.held()["a"]?.progress)
                if progress.fireCount > before { return progress.lastFiredAt }
                #expect(server.alarm.armed > time.sinceBoot)
                try #require(server.alarm.armed != .max)
                time.pass(server.alarm.armed - time.sinceBoot)
            }
            Issue.record("no fire")
            return 0
        }
    }

    @Test(arguments: delays, [TimerClock.continuous, .wall])
    func `a long delay fires at its instant`(delay: Int64, clock: TimerClock) throws {
        let rig = try Rig()
        var rules = TimerRules(.after(delay))
        rules.clock = clock
        try rig.create(rules)
        #expect(try rig.nextFire() == 1_700_000_000_000 + delay)
    }

    @Test(arguments: delays)
    func `a long period fires at its instants`(period: Int64) throws {
        let rig = try Rig(calendar: 1_000_000_000)
        try rig.create(TimerRules(.every(period, first: .after(1))))
        #expect(try rig.nextFire() == 1_000_000_001)
        #expect(try rig.nextFire() == 1_000_000_001 + period)
    }

    @Test(arguments: delays)
    func `an instant far ahead is kept over a restart`(delay: Int64) throws {
        var rig = try Rig()
        try rig.create(TimerRules(.at(1_700_000_000_000 + delay)))
        try rig.restart()
        #expect(try rig.nextFire() == 1_700_000_000_000 + delay)
    }

    @Test(arguments: delays)
    func `a server that was down past a long delay fires once it is up`(delay: Int64) throws {
        var rig = try Rig()
        try rig.create(TimerRules(.after(delay)))
        rig.time.reboot((delay + 5000) * 1_000_000)
        try rig.restart()
        #expect(try rig.nextFire() == 1_700_000_005_000 + delay)
    }

    @Test(arguments: [0, 1, 999, 60_000])
    func `the seconds of 1970 pass 32 bits`(before: Int64) throws {
        let rig = try Rig(calendar: Self.endOf32Bits - before)
        try rig.create(TimerRules(.at(Self.endOf32Bits)))
        #expect(try rig.nextFire() == Self.endOf32Bits)
    }

    @Test func `a grid goes on through 2038`() throws {
        let rig = try Rig(calendar: Self.endOf32Bits - 1500)
        try rig.create(TimerRules(.every(1000, first: .at(Self.endOf32Bits - 1000))))
        for index: Int64 in 0..<3 { #expect(try rig.nextFire() == Self.endOf32Bits + (index - 1) * 1000) }
    }

    @Test func `a watchdog may be silent for long`() throws {
        let rig = try Rig()
        var rules = TimerRules(.watchdog(25 * RandomRules.day))
        rules.clock = .continuous
        try rig.create(rules)
        #expect(try rig.nextFire() == 1_700_000_000_000 + 25 * RandomRules.day)
    }
}
