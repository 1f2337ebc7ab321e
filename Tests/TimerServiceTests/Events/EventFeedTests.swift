import Platform
import TestSupport
import Testing
import TimerLog

@testable import TimerService

struct EventFeedTests {
    private let parts: [FeedPartition]
    private let feed: EventFeed

    init() throws {
        let layout = try #require(PartitionLayout(strided: 2))
        let parts = try (0..<2).map { try FeedPartition($0, layout) }
        self.parts = parts
        feed = EventFeed(layout) { parts }
    }

    private func time(_ position: Int64) { for part in parts { part.setClock(position) } }

    /// What a reading behind `position` shows, and how it ends.
    private func read(after position: Int64) -> (lasts: [Int64], end: EventFeed.Next) {
        var reading = feed.reading(after: position)
        var lasts: [Int64] = []
        while true {
            switch reading.next() {
            case .slice(let slice): lasts.append(slice.last)
            case let end: return (lasts, end)
            }
        }
    }

    @Test func `an event is shown once the idle partitions have promised to stay behind it`() {
        time(10_000)
        let first = parts[0].take(2)
        parts[0].land()
        #expect(read(after: 0).lasts == [first[1]])
        #expect(read(after: first[1]).end == .none(newest: first[1]))
        #expect(feed.head == first[1])
        let second = parts[1].take(1)
        #expect(second[0] > first[1])
        parts[1].land()
        #expect(read(after: first[1]).lasts == second)
    }

    @Test func `what comes before a promise is shown before what the promise was asked for`() {
        time(10_000)
        let early = Guarded<[Int64]>([])
        parts[1].beforePromise { [parts] in
            early.withLock { $0 = parts[1].take(1) }
            parts[1].land()
        }
        parts[0].setClock(20_000)
        let late = parts[0].take(1)
        parts[0].land()
        #expect(read(after: 0).lasts == early.value + late)
        #expect(early.value.count == 1)
    }

    @Test func `a batch under way holds back what comes behind it, and only that`() {
        time(10_000)
        let early = parts[0].take(1)
        parts[0].land()
        time(20_000)
        let slow = parts[1].take(1)
        time(30_000)
        let late = parts[0].take(1)
        parts[0].land()
        #expect(read(after: 0).lasts == early)
        #expect(read(after: early[0]).end == .none(newest: slow[0] - 1))
        #expect(feed.head == slow[0] - 1)
        parts[1].land()
        #expect(read(after: early[0]).lasts == slow + late)
    }

    @Test func `what a slow partition holds back may leave memory, and is missed only once it comes`() {
        time(10_000)
        let slow = parts[1].take(1)
        time(20_000)
        let late = parts[0].take(1)
        parts[0].land()
        parts[0].forget(through: late[0] + 1024)
        #expect(read(after: slow[0] - 1).end == .none(newest: slow[0] - 1))
        parts[1].land()
        #expect(read(after: slow[0] - 1).end == .gone)
        #expect(!feed.holds(after: slow[0]))
    }

    @Test func `time alone moves nothing`() {
        time(10_000)
        let first = parts[0].take(1)
        parts[0].land()
        time(50_000)
        #expect(feed.head == first[0])
        #expect(read(after: first[0]).end == .none(newest: first[0]))
    }

    @Test func `a row ahead of the other partitions' clocks waits for them`() {
        time(10_000)
        parts[0].setClock(10_000 + 3 * PositionClock.perSecond)
        let ahead = parts[0].take(1)
        parts[0].land()
        #expect(read(after: 0).end == .none(newest: 10_000 + PositionClock.perSecond))
        time(10_000 + 3 * PositionClock.perSecond)
        #expect(read(after: 0).lasts == ahead)
    }

    @Test func `an id between two events is a place as any other`() {
        time(10_000)
        let first = parts[0].take(1)
        parts[0].land()
        #expect(feed.standing(of: first[0] - 1) == .given)
        #expect(feed.mayLead(10_000 + 5 * PositionClock.perSecond) == true)
        #expect(feed.mayLead(10_001 + 5 * PositionClock.perSecond) == false)
    }

    @Test func `an id that was shown stays known, however far the calendar lies behind it`() {
        time(10_000 + 60 * PositionClock.perSecond)
        let newest = parts[1].take(1)
        parts[1].land()
        time(10_000)
        #expect(feed.mayLead(newest[0]) == true)
        #expect(feed.mayLead(newest[0] + 1) == false)
        // A process that takes over begins with logs that end ahead of its calendar.
        let heirs = parts.map { FeedPartition(after: $0) }
        let taken = EventFeed(feed.layout) { heirs }
        for heir in heirs { heir.setClock(10_000) }
        #expect(taken.mayLead(newest[0]) == true)
        #expect(taken.mayLead(newest[0] + 1) == false)
    }

    @Test func `without its partitions a process judges no id`() {
        let elsewhere = EventFeed(feed.layout) { [] }
        #expect(elsewhere.mayLead(1) == nil)
        #expect(elsewhere.mayLead(.max) == nil)
    }

    @Test func `a row is found by its partition`() {
        time(10_000)
        let positions = [parts[0].take(1), parts[1].take(1)].map { $0[0] }
        for part in parts { part.land() }
        #expect(positions.map { feed.row(holding: $0)?.partition } == [0, 1])
        #expect(feed.row(holding: positions[0] + 2) == nil)
    }

    @Test func `observers hear of every partition`() {
        let heard = Guarded(0)
        feed.observe { heard.withLock { $0 += 1 } }
        for part in parts { part.hub.notify() }
        #expect(heard.value == 2)
        #expect(feed.changes == 2)
    }

    @Test func `a log that is not divided is shown as its hub has it, without a promise`() throws {
        let part = try FeedPartition(0, .single)
        let feed = EventFeed(.single) { [part] }
        part.setClock(100)
        part.take(3, 4)
        part.land()
        var reading = feed.reading(after: 101)
        let rows = try #require(part.hub.rows(after: 0)).rows
        #expect(reading.next() == .slice(RowSlice(rows[0])))
        #expect(reading.next() == .slice(RowSlice(rows[1])))
        #expect(reading.next() == .none(newest: 106))
        #expect(feed.head == 106)
        #expect(part.promises == 0)
        #expect(feed.changes == nil)
        #expect(feed.mayLead(107) == false)
        part.forget(through: 200)
        #expect(reading.next() == .gone)
        #expect(feed.standing(of: 150) == .gone)
    }
}
