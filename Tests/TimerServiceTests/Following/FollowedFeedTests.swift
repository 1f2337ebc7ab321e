import Platform
import TestSupport
import Testing
import TimerLog

@testable import TimerService

/// Streams over partitions here and elsewhere.
struct FollowedFeedTests {
    private let pair: FeedPair
    private var parts: [FeedPartition] { pair.parts }

    init() throws {
        let layout = try #require(PartitionLayout(strided: 4))
        pair = try FeedPair(4, local: [try FeedPartition(0, layout), try FeedPartition(2, layout)])
        try pair.settle()
    }

    private func time(_ position: Int64) { for part in parts { part.setClock(position) } }

    @discardableResult
    private func write(_ number: Int, at position: Int64) -> Int64 {
        time(position)
        let positions = parts[number].take(1)
        parts[number].land()
        return positions[0]
    }

    @Test func `rows here and elsewhere are shown in one order, once the other owner has promised`() throws {
        time(5000)
        let first = write(0, at: 5000)
        // Partition 1 is elsewhere and has not promised anything yet.
        var reading = pair.feed.reading(after: 0)
        #expect(reading.next() == .none(newest: 0))
        let others = [write(1, at: 9000), write(2, at: 12_000), write(3, at: 15_000)]
        #expect(try pair.read(after: 0).lasts == [first] + others)
        #expect(pair.feed.head == others[2])
        #expect(pair.feed.mayLead(others[2]) == true)
    }

    @Test func `streams hear of an answer that lets them go on`() throws {
        let first = write(0, at: 5000)
        _ = pair.feed.head
        let changes = try #require(pair.feed.changes)
        try pair.settle()
        #expect(try #require(pair.feed.changes) > changes)
        #expect(pair.feed.head == first)
    }

    @Test func `a link that was lost is taken up where it ended, and what was asked for is asked again`() throws {
        let first = write(0, at: 5000)
        _ = pair.feed.head
        pair.gather()
        pair.reconnect()
        try pair.settle()
        #expect(pair.feed.head == first)
        var shown: [Int64] = [first]
        for turn in 2...9 {
            shown.append(write(turn % 4, at: Int64(turn) * 9000))
            pair.gather()
            if turn % 2 == 0 { pair.reconnect() }
        }
        #expect(try pair.read(after: 0).lasts == shown)
    }

    @Test func `a replay ends where it was asked to, also where no record stands there`() throws {
        let first = write(0, at: 5000)
        time(60_000)
        let end = pair.feed.end(of: 50_000)
        #expect(end == 50_000)
        #expect(try pair.read(after: 0).lasts == [first])
        #expect(try pair.read(after: first).end == .none(newest: 50_000))
        #expect(pair.feed.head == 50_000)
    }

    @Test func `a process that has not heard of some partition shows nothing`() throws {
        let layout = pair.layout
        let both = RemotePartitions(layout) { _ throws(StoreError) in
            throw StoreError(.io, "not read")
        } clock: {
            0
        }
        let local = [parts[0], parts[2]]
        let feed = EventFeed(layout, followsOthers: true) {
            both.completing { number in local.first { $0.number == number } }
        }
        write(0, at: 5000)
        #expect(feed.sources.isEmpty && feed.head == 0 && feed.mayLead(1) == nil)
        var reading = feed.reading(after: 17)
        #expect(reading.next() == .none(newest: 17))
    }

    @Test func `what two owners wrote before a stream came is read from their stores, up to what they have told`()
        throws
    {
        let early = [write(1, at: 5000), write(0, at: 9000), write(3, at: 15_000)]
        for part in parts { part.forget(through: early[2]) }
        pair.reconnect()
        try pair.settle()
        // It is in the store, and its owner has not told of it.
        time(30_000)
        parts[1].take(1)
        parts[1].landUnseen()
        _ = try pair.read(after: early[2])
        let found = try pair.replay(after: 0)
        #expect(found.slices.map(\.first) == early)
        #expect(found.through < 30_000)
    }
}
