import Platform
import TestSupport
import Testing
import TimerLog

@testable import TimerService

struct MergedReplayTests {
    private let layout: PartitionLayout
    private let stores = [FaultyLogStore(), FaultyLogStore()]
    private let parts: [FeedPartition]
    private let feed: EventFeed

    init() throws {
        let layout = try #require(PartitionLayout(strided: 2))
        let parts = try zip(0..., stores).map { try FeedPartition($0, layout, $1) }
        (self.layout, self.parts) = (layout, parts)
        feed = EventFeed(layout) { parts }
    }

    /// Has a partition write a row, at an instant that lies behind that of all rows so far.
    private func write(_ number: Int, at turn: Int64, records: Int = 1, bytes: Int = 40) -> [Int64] {
        parts[number].setClock(turn * 1024)
        defer { parts[number].land() }
        return parts[number].take([records], bytes: bytes)
    }

    private func read(after position: Int64, bytes: Int = Replayer.bytesARead) throws -> StoredSlices {
        var replay = try MergedReplay(
            feed.sources, layout, after: position, end: feed.head, bytes: bytes, ReplayReaders(feed))
        return try replay.read()
    }

    @Test func `rows of all stores come in the order of ids, up to the feed's head`() throws {
        let rows = [write(0, at: 10), write(1, at: 20, records: 3), write(0, at: 21), write(1, at: 30)]
        let found = try read(after: 0)
        #expect(found.slices.map(\.first) == [rows[0][0], rows[1][0], rows[2][0], rows[1][1], rows[3][0]])
        #expect(found.through == rows[3][0])
        #expect(try read(after: rows[1][1]).slices.map(\.first) == [rows[1][2], rows[3][0]])
        #expect(try read(after: found.through) == StoredSlices(slices: [], through: found.through))
    }

    @Test func `nothing behind what a partition holds back is read`() throws {
        let first = write(0, at: 10)
        parts[1].setClock(20 * 1024)
        let slow = parts[1].take(1)
        _ = write(0, at: 30)
        let found = try read(after: 0)
        #expect(found.slices.map(\.first) == first)
        #expect(found.through == slow[0] - 1)
    }

    @Test func `a read is bounded, and says how far it went`() throws {
        for turn in 1...20 { _ = write(Int(turn % 2), at: Int64(turn) * 10, bytes: 1000) }
        let found = try read(after: 0, bytes: 5000)
        #expect(found.slices.count == 5)
        #expect(found.through >= found.slices[4].last)
        let next = try read(after: found.through, bytes: 5000)
        #expect(next.slices.first?.row.previous == found.slices[3].last)
        #expect(stores.allSatisfy { $0.readCount < 20 })
    }

    @Test func `rows that one partition deleted are missed, wherever the next row comes from`() throws {
        let rows = [write(0, at: 10), write(1, at: 20), write(1, at: 30), write(0, at: 40)]
        _ = try stores[1].delete(upTo: rows[1][0])
        let found = try read(after: rows[0][0])
        #expect(found.slices.map(\.first) == [rows[2][0], rows[3][0]])
        #expect(found.slices[0].previous == rows[1][0])
        #expect(try read(after: rows[1][0]).slices[0].previous == rows[1][0])
        _ = try stores[0].delete(upTo: rows[0][0])
        #expect(try read(after: 0).slices[0].previous == rows[1][0])
    }

    @Test func `a read that finds rows deleted since it began ends before them, and the next misses them`() throws {
        let store = DeletingStore()
        let both = [try FeedPartition(0, layout, store), try FeedPartition(1, layout)]
        let positions = (1...4).map { (turn: Int64) in
            for part in both { part.setClock(turn * 10 * 1024) }
            defer { both[0].land() }
            return both[0].take(1)[0]
        }
        store.delete(atSecondRead: positions[2])
        // Half of the bytes are read of each partition at once: one row.
        let feed = EventFeed(layout) { both }
        var first = try MergedReplay(both, layout, after: 0, end: feed.head, bytes: 80, ReplayReaders(feed))
        let found = try first.read()
        #expect(found.slices.map(\.first) == [positions[0]])
        #expect(found.through == positions[0])
        var next = try MergedReplay(
            both, layout, after: found.through, end: feed.head, bytes: 80, ReplayReaders(feed))
        #expect(try next.read().slices.map(\.previous) == [positions[2]])
    }

    @Test func `a store that can't be read fails the read`() throws {
        _ = write(0, at: 10)
        _ = write(1, at: 20)
        stores[1].failReads(1)
        #expect(throws: FaultyLogStore.failure) { try read(after: 0) }
    }

    @Test func `a replayer reads one partition, or answers of several`() throws {
        let rows = [write(0, at: 10), write(1, at: 20), write(0, at: 30)]
        let replayer = Replayer(feed)
        let thread = Background { replayer.run() }
        let (found, other) = (Guarded<StoredSlices?>(nil), Guarded<StoredSlices?>(nil))
        replayer.rows(after: 0, of: 0) { answer in found.withLock { $0 = try? answer.get() } }
        replayer.rows(after: 0, of: 7) { answer in other.withLock { $0 = try? answer.get() } }
        try eventually("the replayer answers") { found.value != nil && other.value != nil }
        #expect(found.value?.slices.map(\.first) == [rows[0][0], rows[2][0]])
        #expect(other.value == StoredSlices(slices: [], through: 0, isWhole: false))
        let held = Guarded<[Bool]>([])
        for position in [rows[1][0], rows[1][0] + 1] {
            replayer.isHeld(position) { answer in held.withLock { $0.append((try? answer.get()) ?? false) } }
        }
        try eventually("the replayer answers") { held.value.count == 2 }
        #expect(held.value == [true, false])
        replayer.stop()
        try thread.finish("it ends")
    }
}
