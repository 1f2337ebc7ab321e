import Testing
import TimerCore
import TimerLog

@testable import TimerService

/// What one hold of the engine's lock does at most.
struct HoldBoundTests {
    private static let large = [UInt8](repeating: 0x31, count: 60_000)

    @Test func `a step of the fire loop copies a bounded number of bytes`() throws {
        let rig = try Rig(starts: false)
        for index in 0..<100 {
            try rig.create("t\(index)", TimerRules(.after(1000)), payload: Self.large)
            rig.locked { $0.batch.removeAll() }
        }
        rig.time.pass(milliseconds: 1000)
        var steps = 0
        var fires = 0
        while case .more = rig.engine.advance() {
            #expect(rig.locked { $0.batch.count } <= (1 << 20) + 2 * Self.large.count)
            fires += rig.locked { $0.batch.count } / Self.large.count
            rig.locked { $0.batch.removeAll() }
            steps += 1
        }
        fires += rig.locked { $0.batch.count } / Self.large.count
        #expect(steps >= 5)
        #expect(fires == 100)
    }

    @Test func `a turn says when it has cost enough`() throws {
        let rig = try Rig(starts: false)
        func changes(payload: [UInt8]) throws -> Int {
            var made = 0
            try rig.change { turn throws(ServiceError) in
                while !turn.isSpent && made < 10_000 {
                    var bytes = definition("t\(made)-\(payload.count)", payload: payload)
                    _ = try turn.create(rig.key("t\(made)-\(payload.count)"), definition: &bytes)
                    made += 1
                }
            }
            return made
        }
        #expect(try changes(payload: []) == EngineConfiguration.holdLimit)
        #expect(try changes(payload: Self.large) <= 6)
    }

    @Test func `reading large timers costs their size`() throws {
        let rig = try Rig(starts: false)
        try rig.create("large", payload: Self.large)
        var reads = 0
        rig.engine.turn { turn in
            guard let slot = turn.find(rig.key("large")) else { return }
            var view = TimerView()
            while !turn.isSpent && reads < 10_000 {
                turn.copy(slot, into: &view)
                reads += 1
            }
        }
        #expect(reads <= 6)
    }
}
