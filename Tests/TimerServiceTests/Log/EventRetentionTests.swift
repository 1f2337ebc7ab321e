import Platform
import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

/// The events that are kept under the bounds on their bytes and their age.
struct EventRetentionTests {
    private static let tuning: LogCompaction.Tuning = {
        var tuning = LogCompaction.Tuning()
        tuning.slackBytes = 1 << 30
        tuning.rowsPerRound = 3
        return tuning
    }()

    private func compaction(_ rig: Rig) -> LogCompaction {
        LogCompaction(rig.log, CompactionPacing(), tuning: Self.tuning) { Issue.record("\($0)") }
    }

    /// Writes a row with that many bytes, more or less, and lets time pass.
    private func write(_ rig: Rig, _ bytes: Int) throws {
        try rig.answer(UInt64(rig.time.boottime()), bytes: bytes)
        try rig.settle()
        rig.time.pass(milliseconds: 10)
    }

    @Test(arguments: 1...5 as ClosedRange<UInt64>)
    func `the oldest rows go, and only those that do not fit`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let kept = 20_000
        let rig = try Rig(MemoryLogStore(), CompactionTests.keeping(milliseconds: 1 << 40, bytes: kept))
        let compaction = compaction(rig)
        for _ in 0..<15 {
            for _ in 0..<Int.random(in: 1..<20, using: &random) {
                try write(rig, Int.random(in: 10..<1000, using: &random))
            }
            while compaction.round() {}
            let log = try rows(of: rig.store)
            let horizon = rig.log.horizon
            let held = log.reduce(0) { $0 + ($1.last > horizon ? $1.data.count : 0) }
            #expect(held <= kept)
            guard let newestGone = log.last(where: { $0.last <= horizon }) else { continue }
            #expect(held + newestGone.data.count > kept)
        }
        #expect(try rows(of: rig.store)[0].last <= rig.log.horizon)
        rig.stop()
    }

    @Test func `a log that can't be read keeps its events`() throws {
        let store = GatedLogStore(MemoryLogStore())
        let rig = try Rig(store, CompactionTests.keeping(milliseconds: 1 << 40, bytes: 5_000))
        let horizon = rig.log.horizon
        for _ in 0..<8 { try write(rig, 1000) }
        store.failReads()
        let failures = Guarded(0)
        let compaction = LogCompaction(rig.log, CompactionPacing(), tuning: Self.tuning) { _ in
            failures.withLock { $0 += 1 }
        }
        #expect(!compaction.round())
        #expect(failures.value == 1 && rig.log.horizon == horizon)
        rig.stop()
    }

    @Test func `a row that begins an epoch is as old as its position says`() throws {
        let store = MemoryLogStore()
        let time = ManualTime()
        for _ in 0..<3 {
            _ = store.beginEpoch(session: 7, after: CalendarPosition.at(realtime: time.realtime()))
            time.pass(milliseconds: 1000)
        }
        let rig = try Rig(store.seen(by: 7), CompactionTests.keeping(milliseconds: 60_000), time: time)
        let compaction = compaction(rig)
        let log = try rows(of: rig.store)
        while compaction.round() {}
        #expect(rig.log.horizon == log[0].first - 1)
        rig.time.pass(milliseconds: 60_000)
        while compaction.round() {}
        #expect(rig.log.horizon == log[1].last)
        rig.stop()
    }

    @Test func `a log that does not grow is read no more, and its events go in time`() throws {
        let store = GatedLogStore(MemoryLogStore())
        let rig = try Rig(store, CompactionTests.keeping(milliseconds: 60_000))
        let compaction = compaction(rig)
        for rows in [0, 1, 2, 10] {
            for _ in 0..<rows { try write(rig, 100) }
            while compaction.round() {}
            let before = store.readCount
            for _ in 0..<10 { #expect(!compaction.round()) }
            #expect(store.readCount == before)
        }
        let horizon = rig.log.horizon
        rig.time.pass(milliseconds: 59_000)
        while compaction.round() {}
        #expect(rig.log.horizon == horizon)
        rig.time.pass(milliseconds: 1_001)
        while compaction.round() {}
        let last = try #require(try TestSupport.rows(of: store).dropLast().last)
        #expect(rig.log.horizon == last.last)
        // The newest row is released once there is one after it.
        try write(rig, 100)
        while compaction.round() {}
        #expect(rig.log.horizon > last.last)
        rig.stop()
    }
}
