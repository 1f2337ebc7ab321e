import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

/// Timers of one of many partitions, whose log is the same as if there were one.
struct PartitionHashTests {
    private static let layout = PartitionLayout(strided: 8)

    /// An id that belongs to partition `number`.
    private func id(in number: Int, _ layout: PartitionLayout, _ rig: Rig) throws -> String {
        let ids = (0..<1000).lazy.map { "t\($0)" }
        return try #require(ids.first { layout.partition(ofHash: rig.key($0).hash) == number })
    }

    /// Top half of the hash of a timer's name, as its scheduler tells it.
    private func topHalf(_ id: String, _ rig: Rig) -> UInt32? {
        rig.locked { engine in
            guard let slot = engine.scheduler.find(rig.key(id)) else { return nil }
            return engine.scheduler.hash(slot)
        }
    }

    /// Top halves of hashes in the records of kicks.
    private func kickHashes(_ rig: Rig) throws -> [UInt32] {
        try rig.records().compactMap { record in
            guard case .kick(let hash, _) = record.content else { return nil }
            return hash
        }
    }

    @Test(arguments: [0, 5, 7], [nil, .absent, .unknownAndLost, .unknownButWritten] as [FaultyLogStore.Outcome?])
    func `kicks are found after a fold, and name the whole hash`(
        number: Int, outcome: FaultyLogStore.Outcome?
    ) throws {
        let layout = try #require(Self.layout)
        let store = FaultyLogStore()
        let time = ManualTime()
        let rig = try Rig(store, hashPrefix: layout.hashPrefix(of: number), time: time)
        let id = try id(in: number, layout, rig)
        let half = UInt32(rig.key(id).hash >> 32)
        try rig.create(id, TimerRules(.watchdog(3_600_000)))
        try rig.tell(id, .kick)
        try rig.settle()
        if let outcome {
            store.plan(outcome)
            _ = try rig.fate(try rig.tell(id, .kick))
            try eventually("storage works again") { rig.locked { !$0.storageFails } }
        }
        let kicks = try #require(rig.live[id]?.kicks?.kickCount)
        #expect(kicks == (outcome == .unknownButWritten ? 2 : 1))
        #expect(try kickHashes(rig).allSatisfy { $0 == half })
        #expect(topHalf(id, rig) == half)
        try rig.expectFoldIsLive()
        rig.stop()
        let again = try Rig(store, hashPrefix: layout.hashPrefix(of: number), time: time)
        #expect(again.live[id]?.kicks?.kickCount == kicks)
        again.stop()
        // The log is that of any number of partitions.
        let whole = try Rig(store, time: time)
        #expect(whole.live[id]?.kicks?.kickCount == kicks)
        whole.stop()
    }

    @Test func `a refold keeps the prefix`() throws {
        let layout = try #require(Self.layout)
        let store = FaultyLogStore()
        let rig = try Rig(store, hashPrefix: layout.hashPrefix(of: 3))
        let id = try id(in: 3, layout, rig)
        try rig.create(id)
        try rig.settle()
        store.plan(.unknownAndLost)
        _ = try rig.fate(try rig.tell(id, .suspend))
        try eventually("storage works again") { rig.locked { !$0.storageFails } }
        let half = UInt32(rig.key(id).hash >> 32)
        #expect(topHalf(id, rig) == half)
        // Without the prefix the place of any other partition would be one in this partition's index too.
        var members = 0
        rig.locked {
            $0.scheduler.walk(after: 4 << 61, over: .all) { _, _ in
                members += 1; return true
            }
        }
        #expect(members == 0)
        rig.stop()
    }
}
