import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

struct KickHashTests {
    /// The top half of the hash of a timer's name, as the scheduler has it.
    private func topHalf(_ id: String, _ rig: Rig) -> UInt32? {
        rig.locked { engine in
            guard let slot = engine.scheduler.find(rig.key(id)) else { return nil }
            return engine.scheduler.hash(slot)
        }
    }

    @Test(arguments: [nil, .absent, .unknownAndLost, .unknownButWritten] as [FaultyLogStore.Outcome?])
    func `kicks are found after a fold, by the top half of the hash`(outcome: FaultyLogStore.Outcome?) throws {
        let store = FaultyLogStore()
        let time = ManualTime()
        let rig = try Rig(store, time: time)
        let half = UInt32(rig.key("dog").hash >> 32)
        try rig.create("dog", TimerRules(.watchdog(3_600_000)))
        try rig.apply("dog", .kick)
        try rig.settle()
        if let outcome {
            store.plan(outcome)
            _ = try rig.fate(try rig.apply("dog", .kick))
            try eventually("storage works again") { rig.locked { !$0.storageFails } }
        }
        let kicks = try #require(rig.live["dog"]?.kicks?.kickCount)
        #expect(kicks == (outcome == .unknownButWritten ? 2 : 1))
        for case .kick(let hash, _) in try rig.records().map(\.content) { #expect(hash == half) }
        #expect(topHalf("dog", rig) == half)
        try rig.expectFoldIsLive()
        rig.stop()
        let again = try Rig(store, time: time)
        #expect(again.live["dog"]?.kicks?.kickCount == kicks)
        again.stop()
    }
}
