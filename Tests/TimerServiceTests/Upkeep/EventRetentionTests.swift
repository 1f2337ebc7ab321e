import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

/// Logs of several partitions that share the bytes which events are kept for.
struct EventRetentionTests {
    private static let tuning: LogCompaction.Tuning = {
        var tuning = LogCompaction.Tuning()
        tuning.slackBytes = 1 << 30
        tuning.rowsPerRound = 3
        return tuning
    }()

    /// Partitions with clocks and a configuration in common.
    private static func rigs(_ count: Int, keeping bytes: Int, milliseconds: Int64 = 1 << 40) throws -> [Rig] {
        let time = ManualTime()
        let layout = try #require(PartitionLayout(strided: 4))
        let volume = MemoryLogVolume(layout)
        return try (0..<count).map { number in
            try Rig(
                volume.store(number), CompactionTests.keeping(milliseconds: milliseconds, bytes: bytes),
                place: PartitionPlace(number, of: layout), hashPrefix: layout.hashPrefix(of: number), time: time)
        }
    }

    private func compactions(_ rigs: [Rig]) -> [LogCompaction] {
        rigs.map { LogCompaction($0.partition, CompactionPacing(), tuning: Self.tuning) { Issue.record("\($0)") } }
    }

    /// Writes a row with that many bytes, more or less, and lets time pass.
    private func write(_ rig: Rig, _ bytes: Int) throws {
        try rig.answer(UInt64(rig.time.boottime()), bytes: bytes)
        try rig.settle()
        rig.time.pass(milliseconds: 10)
    }

    /// What a test looks at in a row.
    private struct Row {
        var closed: Int64
        var bytes: Int
        var isKept: Bool
    }

    /// The rows of all partitions but the newest of each, which always stays, and the bytes of those.
    private func rows(_ rigs: [Rig]) throws -> (rows: [Row], newest: Int) {
        var found: [Row] = []
        var newest = 0
        for rig in rigs {
            let log = try TestSupport.rows(of: rig.store)
            newest += log.last?.data.count ?? 0
            for row in log.dropLast() {
                let header = BatchHeader(row.data.span)
                let closed = try #require(header).base.now.wall
                found.append(Row(closed: closed, bytes: row.data.count, isKept: row.last > rig.partition.horizon))
            }
        }
        return (found, newest)
    }

    @Test(arguments: 1...5 as ClosedRange<UInt64>)
    func `the oldest rows of all partitions go, and only those that do not fit`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let kept = 20_000
        let rigs = try Self.rigs(4, keeping: kept)
        let logs = compactions(rigs)
        for _ in 0..<15 {
            // Most go to one partition, another one after each while.
            let busy = Int.random(in: 0..<4, using: &random)
            for _ in 0..<Int.random(in: 1..<20, using: &random) {
                let isOther = Int.random(in: 0..<4, using: &random) == 0
                let number = isOther ? Int.random(in: 0..<4, using: &random) : busy
                try write(rigs[number], Int.random(in: 10..<1000, using: &random))
            }
            while LogCompaction.round(logs) {}
            let (rows, newest) = try rows(rigs)
            let oldestKept = rows.filter(\.isKept).map(\.closed).min() ?? .max
            let newestGone = rows.filter { !$0.isKept }.max { $0.closed < $1.closed }
            let held = newest + rows.reduce(0) { $0 + ($1.isKept ? $1.bytes : 0) }
            #expect(held <= kept || oldestKept == .max)
            guard let newestGone else { continue }
            #expect(newestGone.closed < oldestKept)
            #expect(held + newestGone.bytes > kept)
        }
        #expect(try rows(rigs).rows.contains { !$0.isKept })
        for rig in rigs { rig.stop() }
    }

    @Test func `a partition whose log can't be read counts, and holds up no other`() throws {
        let faulty = GatedLogStore(MemoryLogStore())
        let layout = try #require(PartitionLayout(strided: 4))
        let configuration = CompactionTests.keeping(milliseconds: 1 << 40, bytes: 10_000)
        let time = ManualTime()
        let failing = try Rig(
            faulty, configuration, place: PartitionPlace(0, of: layout), hashPrefix: layout.hashPrefix(of: 0),
            time: time)
        let other = try Rig(
            MemoryLogVolume(layout).store(1), configuration, place: PartitionPlace(1, of: layout),
            hashPrefix: layout.hashPrefix(of: 1), time: time)
        for _ in 0..<8 { try write(failing, 1000) }
        for _ in 0..<20 { try write(other, 1000) }
        faulty.failReads()
        let logs = [failing, other].map { rig in
            LogCompaction(rig.partition, CompactionPacing(), tuning: Self.tuning) { _ in }
        }
        while LogCompaction.round(logs) {}
        #expect(failing.partition.horizon == 0)
        #expect(logs[1].boundary.insideBytes < 2000)
        #expect(logs[0].boundary.insideBytes > 8000)
        failing.stop()
        other.stop()
    }

    @Test func `a row that begins an epoch is as old as its position says`() throws {
        let layout = try #require(PartitionLayout(strided: 4))
        let volume = MemoryLogVolume(layout)
        let time = ManualTime()
        for _ in 0..<3 {
            _ = volume.beginEpoch(of: 1, session: 7, behind: CalendarPosition.at(realtime: time.realtime()))
            time.pass(milliseconds: 1000)
        }
        let rig = try Rig(
            volume.seen(by: 7).store(1), CompactionTests.keeping(milliseconds: 60_000),
            place: PartitionPlace(1, of: layout), hashPrefix: layout.hashPrefix(of: 1), time: time)
        let logs = compactions([rig])
        while LogCompaction.round(logs) {}
        // Events of other partitions are shown from the greatest horizon on.
        #expect(rig.partition.horizon == 0)
        rig.time.pass(milliseconds: 60_000)
        while LogCompaction.round(logs) {}
        #expect(rig.partition.horizon > CalendarPosition.at(realtime: 1))
        rig.stop()
    }

    @Test func `a log that does not grow is read no more, and its events go in time`() throws {
        let store = GatedLogStore(MemoryLogStore())
        let rig = try Rig(store, CompactionTests.keeping(milliseconds: 60_000))
        let logs = compactions([rig])
        for rows in [0, 1, 2, 10] {
            for _ in 0..<rows { try write(rig, 100) }
            while LogCompaction.round(logs) {}
            let before = store.readCount
            for _ in 0..<10 { #expect(!LogCompaction.round(logs)) }
            #expect(store.readCount == before)
        }
        let horizon = rig.partition.horizon
        rig.time.pass(milliseconds: 59_000)
        while LogCompaction.round(logs) {}
        #expect(rig.partition.horizon == horizon)
        rig.time.pass(milliseconds: 1_001)
        while LogCompaction.round(logs) {}
        let last = try #require(try TestSupport.rows(of: store).dropLast().last)
        #expect(rig.partition.horizon == last.last)
        // The newest row goes once there is one after it.
        try write(rig, 100)
        while LogCompaction.round(logs) {}
        #expect(rig.partition.horizon > last.last)
        rig.stop()
    }
}
