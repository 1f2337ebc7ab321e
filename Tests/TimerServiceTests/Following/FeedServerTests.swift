import Platform
import TestSupport
import Testing
import TimerLog

@testable import TimerService

struct FeedServerTests {
    private let pair: FeedPair
    private var parts: [FeedPartition] { pair.parts }

    init() throws { pair = try FeedPair(2) }

    /// Has a partition write a row.
    @discardableResult
    private func write(_ number: Int, at position: Int64, bytes: Int = 40) -> Int64 {
        parts[number].setClock(position)
        let positions = parts[number].take(1, bytes: bytes)
        parts[number].land()
        return positions[0]
    }

    @Test func `a follower is told every row behind its place, and where the partition stands`() throws {
        let rows = [write(0, at: 5000), write(0, at: 9000)]
        try pair.settle()
        #expect(pair.remotes[0]?.known == rows[1])
        #expect(pair.remotes[0]?.hub.rows(after: 0)?.rows.map(\.first) == rows)
        #expect(pair.remotes[1]?.isHeard == true)
        let third = write(0, at: 20_000)
        pair.gather()
        #expect(
            try pair.frames().flatMap(\.facts).map(\.bounds) == [[0, rows[1], third]])
    }

    @Test func `nothing is sent that was not asked for, and the transport is called once`() throws {
        try pair.settle()
        let calls = pair.callCounts.server
        write(0, at: 5000)
        write(0, at: 9000)
        #expect(pair.callCounts.server == calls + 1)
        // The follower takes nothing: four frames are what it has asked for.
        for position in 2...9 {
            pair.gather()
            write(0, at: Int64(position) * 10_000)
        }
        #expect(try pair.frames().count == 4)
        try pair.settle()
        #expect(pair.remotes[0]?.known == parts[0].hub.head)
    }

    @Test func `frames are bounded, and one longer row goes alone`() throws {
        try pair.settle()
        for turn in 1...12 { write(0, at: Int64(turn) * 10_000, bytes: 100_000) }
        write(0, at: 200_000, bytes: 700_000)
        pair.gather()
        let sizes = try pair.frames().map { $0.encoded().count }
        #expect(sizes.count == 4 && sizes.allSatisfy { $0 < FeedFrame.targetBytes + 110_000 })
        try pair.settle(5000)
        #expect(pair.remotes[0]?.known == parts[0].hub.head)
        #expect(try pair.read(after: 0).lasts.count == 13)
    }

    @Test func `who comes too late for memory is told to read the store, then what comes next`() throws {
        write(0, at: 5000)
        let second = write(0, at: 9000)
        parts[0].forget(through: second + 1024)
        try pair.settle()
        let third = write(0, at: 20_000)
        try pair.settle()
        let remote = try #require(pair.remotes[0])
        #expect(remote.hub.floor == second + 1024 && remote.known == third)
        #expect(remote.hub.rows(after: second + 1024)?.rows.map(\.first) == [third])
        _ = try pair.read(after: third)
        #expect(try pair.replay(after: 0).slices.map(\.first).count == 3)
    }

    @Test func `a slow follower costs the owner nothing and is told what is gone`() throws {
        try pair.settle()
        let first = write(0, at: 5000)
        try pair.settle()
        for turn in 1...4 {
            write(0, at: Int64(turn) * 10_000)
            pair.gather()
        }
        let last = write(0, at: 90_000)
        parts[0].forget(through: last + 1024)
        try pair.settle()
        #expect(pair.remotes[0]?.hub.floor == last + 1024)
        _ = try pair.read(after: last)
        #expect(try pair.replay(after: first).slices.count == 5)
    }

    @Test func `a partition that is not here is told of once, and its rows once it is`() throws {
        pair.standing.withLock { $0.owned = [0] }
        pair.link.follow([0, 1])
        pair.gather()
        try pair.deliver()
        pair.gather()
        #expect(try pair.frames().flatMap(\.facts).contains(.elsewhere(partition: 1)))
        try pair.settle()
        pair.followers.look(at: 1)
        pair.gather()
        #expect(try pair.frames().isEmpty)
        #expect(pair.remotes[1]?.isHeard == false && pair.feed.sources.isEmpty)
        pair.standing.withLock { $0.owned = [0, 1] }
        let first = write(1, at: 5000)
        try pair.settle()
        #expect(pair.remotes[1]?.known == first)
        #expect(pair.feed.sources.count == 2)
    }

    @Test func `a promise is given once it is asked for, as far as it goes, and the rest later`() throws {
        try pair.settle()
        for part in parts { part.setClock(10_000) }
        let (far, lead) = (10_000 + 3 * PositionClock.perSecond, PositionClock.perSecond)
        #expect(pair.remotes[1]?.promise(through: 12_000) == 0)
        let calls = pair.callCounts.link
        #expect(pair.remotes[1]?.promise(through: 12_000) == 0)
        #expect(pair.callCounts.link == calls)
        try pair.settle()
        #expect(pair.remotes[1]?.known == 12_000)
        _ = pair.remotes[1]?.promise(through: far)
        try pair.settle()
        #expect(pair.remotes[1]?.known == 10_000 + lead)
        parts[1].setClock(far)
        try pair.settle()
        #expect(pair.remotes[1]?.known == 10_000 + lead)
        pair.server.lookAgain()
        try pair.settle()
        #expect(pair.remotes[1]?.promise(through: far) == far)
        #expect(pair.remotes[0]?.known == 0)
    }

    @Test func `a batch under way holds a promise back until its rows are shown`() throws {
        try pair.settle()
        parts[1].setClock(10_000)
        let slow = parts[1].take(1)
        _ = pair.remotes[1]?.promise(through: 50_000)
        try pair.settle()
        #expect(pair.remotes[1]?.known == slow[0] - 1)
        parts[1].setClock(60_000)
        parts[1].land()
        try pair.settle()
        #expect(pair.remotes[1]?.known == 50_000)
        #expect(pair.remotes[1]?.hub.rows(after: 0)?.rows.map(\.first) == slow)
    }

    @Test func `nothing is told while the lease is over`() throws {
        try pair.settle()
        pair.standing.withLock { $0.isValid = false }
        let first = write(0, at: 5000)
        try pair.settle()
        #expect(pair.remotes[0]?.known == 0)
        pair.standing.withLock { $0.isValid = true }
        let calls = pair.callCounts.server
        pair.server.lookAgain()
        #expect(pair.callCounts.server > calls)
        try pair.settle()
        #expect(pair.remotes[0]?.known == first)
    }

    @Test func `a partition that is left is told of no more`() throws {
        try pair.settle()
        pair.link.follow([1])
        try pair.settle()
        write(0, at: 5000)
        pair.gather()
        #expect(try pair.frames().isEmpty)
    }

    @Test func `a partition that was left and is asked for again goes on where the follower stands`() throws {
        try pair.settle()
        let rows = [write(0, at: 5000), write(0, at: 9000)]
        pair.gather()
        write(0, at: 12_000)
        pair.gather()
        // Two frames are on their way: the first comes while the partition is not followed, the second when it is again.
        let frames = try pair.frames()
        #expect(frames.count == 2)
        pair.link.follow([1])
        try pair.deliver(frames[0].encoded().count, ofFrames: 1)
        pair.follow()
        try pair.settle()
        #expect(pair.remotes[0]?.hub.rows(after: 0)?.rows.map(\.first).prefix(2) == rows[...])
        #expect(pair.remotes[0]?.known == parts[0].hub.head)
    }

    @Test func `a follower is told what is no longer kept, at first and once more is deleted`() throws {
        write(0, at: 5000)
        write(1, at: 6000)
        try pair.settle()
        #expect(pair.feed.horizon == 0)
        parts[1].delete(through: 4000)
        pair.server.lookAgain()
        try pair.settle()
        #expect(pair.feed.horizon == 4000 && pair.remotes[0]?.horizon == 0)
        pair.reconnect()
        parts[0].delete(through: 4500)
        try pair.settle()
        #expect(pair.feed.horizon == 4500 && pair.remotes[1]?.horizon == 4000)
    }

    @Test func `bytes of no follower are an error`() throws {
        #expect(throws: FrameError.tooLong) { try pair.server.receive([255, 255, 255, 255]) }
        let other = try FeedPair(2)
        #expect(throws: FrameError.outOfRange) {
            try other.server.receive(FeedAsk.encode([.follow(partition: 2, after: 0)]))
        }
        #expect(throws: FrameError.tooLong) { try other.link.receive([255, 255, 255, 255]) }
    }
}

extension FeedFact {
    /// Where rows begin, what they are behind, and up to where they are all.
    fileprivate var bounds: [Int64] {
        guard case .rows(let partition, let after, let through, _) = self else { return [] }
        return [Int64(partition), after, through]
    }
}
