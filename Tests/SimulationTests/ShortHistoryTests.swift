import Testing

@testable import TimerCore
@testable import TimerService

/// Histories that once broke a promise, in their shortest form.
struct ShortHistoryTests {
    private let store = SimulatedStore()
    private let time = SimulatedTime(calendar: 1_700_000_000_000_000_000)
    private let server: Server

    init() throws { server = try Server(store, time) }

    private func change(_ body: (borrowing Turn, TimerKey) throws -> Void) throws {
        try server.engine.turn { turn -> Result<Void, any Error> in
            Result {
                let siphash = server.engine.scheduler.siphash
                try body(turn, TimerKey(id: Array("a".utf8).span, siphash: siphash))
            }
        }.get()
    }

    private func put(_ rules: TimerRules) throws {
        try change { turn, key in
            var definition = RandomRules.definition("a", rules)
            _ = try turn.put(key, definition: &definition, if: .none, unless: .none)
        }
    }

    @Test func `a timer that becomes a watchdog again has no kicks of its earlier life`() throws {
        try put(TimerRules(.watchdog(1000)))
        try change { turn, key in _ = try turn.apply(.kick, key, if: .none) }
        #expect(server.held()["a"]?.kicks?.kickCount == 1)
        try put(TimerRules(.every(1000, first: .period)))
        try put(TimerRules(.watchdog(1000)))
        #expect(server.held()["a"]?.kicks?.kickCount == 0)
        #expect(server.held()["a"]?.kicks?.lastKickedAt == 0)
    }

    @Test(arguments: [-500, 500, -5000, 5000])
    func `a stand-still is found though the calendar was set before the loop went on`(step: Int64) throws {
        try put(TimerRules(.every(100, first: .period)))
        while case .more = server.engine.fire() {}
        time.pass(60_000_000_000)
        time.step(step * 1_000_000)
        // A client's request is the first to read the clocks.
        _ = server.now()
        while case .more = server.engine.fire() {}
        let progress = try #require(server.held()["a"]?.progress)
        #expect(progress.fireCount == 1)
        #expect(progress.missedCount == 599)
    }

    @Test func `many stand-stills never add up to uptime`() {
        var clock = ServiceClock(time, after: nil)
        let start = clock.now().nanoseconds(on: .suspending)
        for _ in 0..<1000 {
            time.pass(2_000_900_000)
            #expect(clock.now().nanoseconds(on: .suspending) <= start)
        }
    }

    @Test func `a disk that fails adds nothing to uptime`() {
        var clock = ServiceClock(time, after: nil)
        let start = clock.now().nanoseconds(on: .suspending)
        for _ in 0..<1000 {
            time.pass(700_000)
            _ = clock.now(isUp: false)
            time.pass(700_000)
            // The disk works again at this reading.
            #expect(clock.now().nanoseconds(on: .suspending) <= start)
        }
    }
}
