import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

struct CompactionTests {
    private let tuning: LogCompaction.Tuning = {
        var tuning = LogCompaction.Tuning()
        tuning.slackBytes = 4000
        tuning.rowsPerRound = 3
        tuning.bytesPerRound = 20_000
        return tuning
    }()

    static func keeping(milliseconds: Int64, bytes: Int = 1 << 30) -> EngineConfiguration {
        var configuration = EngineConfiguration()
        configuration.retainMilliseconds = milliseconds
        configuration.retainBytes = bytes
        return configuration
    }

    private func compactor(_ rig: Rig) -> LogCompaction {
        LogCompaction(rig.log, CompactionPacing(), tuning: tuning) { Issue.record("\($0)") }
    }

    /// Waits until the rows released by rounds are deleted.
    private func waitForDeletion(_ rig: Rig) throws {
        try eventually("what was let go is deleted") {
            rig.log.trim.bytes == RowBytes(try rows(of: rig.store))
        }
    }

    /// Bytes that a log of the live timers would take, without the rows' headers.
    private func liveBytes(_ rig: Rig) -> Int {
        rig.locked { engine in
            engine.scheduler.definitionBytes + engine.idempotency.answerBytes
                + 48 * (engine.scheduler.count + engine.idempotency.count) + engine.deliveryBytes
        }
    }

    @Test(arguments: 1...5 as ClosedRange<UInt64>)
    func `the log is what memory holds after every step of compaction`(_ seed: UInt64) throws {
        let store = MemoryLogStore()
        let rig = try Rig(store, Self.keeping(milliseconds: 2000))
        let compactor = compactor(rig)
        var history = RandomHistory(seed: seed + 200, payloadBytes: 300)
        var rounds = 0
        for _ in 0..<40 {
            for _ in 0..<25 { try history.step(rig) }
            try rig.settle()
            while try compactor.round(try store.makeReader()) {
                rounds += 1
                try rig.expectFoldIsLive(answers: 0..<history.answers, "between carrying and deleting")
            }
            try waitForDeletion(rig)
            try rig.expectFoldIsLive(answers: 0..<history.answers, "after deleting")
        }
        #expect(rounds > 10)
        #expect(try #require(try rows(of: store).first).previous > 0)
        rig.stop()
        let again = try Rig(store, time: rig.time)
        #expect(again.live.differences(from: rig.live) == [])
        again.stop()
    }

    @Test(arguments: 1...5 as ClosedRange<UInt64>)
    func `the log is what memory holds after every piece that is carried`(_ seed: UInt64) throws {
        let rig = try Rig()
        var history = RandomHistory(seed: seed + 300)
        for _ in 0..<20 {
            for _ in 0..<10 { try history.step(rig) }
            try rig.settle()
        }
        let compactor = compactor(rig)
        for row in try rows(of: rig.store) {
            let carried = try compactor.needs(of: row)
            // A fold without the row is the same once the version floor was carried too: nothing depends on the row
            // any more.
            #expect(rig.engine.carry(carried, from: 0) == carried.count)
            #expect(rig.engine.carryVersionFloor())
            try rig.expectFoldIsLive(answers: 0..<history.answers)
            while try rig.store.delete(upTo: row.last) > 0 {}
            try rig.expectFoldIsLive(answers: 0..<history.answers)
        }
        rig.stop()
    }

    @Test func `a row with nothing of worth is let go without more ado`() throws {
        let rig = try Rig()
        #expect(rig.engine.carry(Engine.Carried(), from: 0) == 0)
        #expect(try rows(of: rig.store).isEmpty)
        try rig.create("a")
        try rig.settle()
        for _ in 0..<100 {
            try rig.apply("a", .suspend)
            try rig.settle()
            try rig.apply("a", .resume)
            try rig.settle()
            rig.time.pass(milliseconds: 5000)
        }
        rig.stop()
        let store = rig.store
        let again = try Rig(store, Self.keeping(milliseconds: 1000), time: rig.time)
        let compactor = compactor(again)
        while try compactor.round(try store.makeReader()) {}
        try waitForDeletion(again)
        #expect(try rows(of: store).count < 100)
        try again.expectFoldIsLive()
        again.stop()
    }

    @Test(arguments: [0, 3000, 20_000])
    func `events stay as long as they are kept for`(_ milliseconds: Int64) throws {
        let rig = try Rig(MemoryLogStore(), Self.keeping(milliseconds: milliseconds))
        let compactor = compactor(rig)
        try rig.create("a", TimerRules(.every(500, first: .period)), payload: [UInt8](repeating: 1, count: 500))
        for _ in 0..<100 {
            rig.time.pass(milliseconds: 500)
            rig.fire()
            try rig.settle()
            while try compactor.round(try rig.store.makeReader()) {}
        }
        try waitForDeletion(rig)
        let wall = rig.engine.turn { $0.now.wall }
        let fires = try rig.records().filter { if case .event(.fired, _, _) = $0.content { true } else { false } }
        // No fire younger than that is missing: there was one every half second.
        let kept = fires.filter { $0.at > wall - milliseconds }
        #expect(Int64(kept.count) == milliseconds / 500)
        #expect(fires.count < 100)
        rig.stop()
    }

    @Test func `events beyond the bytes that are kept go, younger ones stay`() throws {
        let rig = try Rig(MemoryLogStore(), Self.keeping(milliseconds: 1 << 40, bytes: 30_000))
        let compactor = compactor(rig)
        try rig.create("a", TimerRules(.every(500, first: .period)), payload: [UInt8](repeating: 1, count: 500))
        for _ in 0..<300 {
            rig.time.pass(milliseconds: 500)
            rig.fire()
            try rig.settle()
            while try compactor.round(try rig.store.makeReader()) {}
            try waitForDeletion(rig)
            let bytes = rig.store.bytesOnDisk()
            // The events' share, twice the live state, the slack, and a few rows under way.
            #expect(bytes <= 30_000 + 2 * liveBytes(rig) + tuning.slackBytes + 3000)
        }
        #expect(rig.store.bytesOnDisk() >= 30_000)
        rig.stop()
    }

    @Test func `rows that are still to be deleted take no room from the events that are kept`() throws {
        let store = GatedLogStore(MemoryLogStore())
        store.failDeletes(.max)
        let rig = try Rig(store, Self.keeping(milliseconds: 1 << 40, bytes: 30_000))
        let compactor = compactor(rig)
        try rig.create("a", TimerRules(.every(500, first: .period)), payload: [UInt8](repeating: 1, count: 500))
        for _ in 0..<300 {
            rig.time.pass(milliseconds: 500)
            rig.fire()
            try rig.settle()
            while try compactor.round(try store.makeReader()) {}
        }
        let kept = try rows(of: store, from: rig.log.horizon + 1).reduce(0) { $0 + $1.data.count }
        // The rows kept are at most one row below the events' share.
        #expect(kept > 29_000)
        #expect(kept < 60_000)
        #expect(store.bytesOnDisk() > 100_000)
        rig.stop()
    }

    @Test(arguments: 1...3 as ClosedRange<UInt64>)
    func `the disk holds little more than what lives when no events are kept`(_ seed: UInt64) throws {
        let rig = try Rig(MemoryLogStore(), Self.keeping(milliseconds: 0))
        let compactor = compactor(rig)
        var history = RandomHistory(seed: seed + 400, payloadBytes: 500)
        for _ in 0..<30 {
            for _ in 0..<40 { try history.step(rig) }
            try rig.settle()
            rig.time.pass(milliseconds: 10)
            while try compactor.round(try rig.store.makeReader()) {}
            try waitForDeletion(rig)
            // The rest is for rows under way, and for those of events that pending deliveries need.
            #expect(rig.store.bytesOnDisk() <= 5 * liveBytes(rig) / 2 + tuning.slackBytes + 45_000)
        }
        rig.stop()
    }

    @Test func `answers alone do not keep compaction busy for ever`() throws {
        let rig = try Rig(MemoryLogStore(), Self.keeping(milliseconds: 0))
        let compactor = compactor(rig)
        for number in 0..<200 {
            try rig.answer(UInt64(number), bytes: 300)
            try rig.settle()
        }
        rig.time.pass(milliseconds: 10)
        var rounds = 0
        while try compactor.round(try rig.store.makeReader()) {
            rounds += 1
            rig.time.pass(milliseconds: 10)
            try #require(rounds < 1000)
        }
        try rig.expectFoldIsLive(answers: 0..<200)
        rig.stop()
    }

    @Test func `a log of sleeping timers is left alone`() throws {
        let rig = try Rig(MemoryLogStore(), Self.keeping(milliseconds: 0))
        let compactor = compactor(rig)
        for number in 0..<100 {
            try rig.create("sleeper-\(number)", TimerRules(.after(1 << 40)), payload: [UInt8](repeating: 1, count: 200))
            try rig.settle()
        }
        rig.time.pass(milliseconds: 10)
        let before = rig.engine.durableHead
        while try compactor.round(try rig.store.makeReader()) {}
        #expect(rig.engine.durableHead == before)
        #expect(try rows(of: rig.store).first?.previous == 0)
        rig.stop()
    }
}
