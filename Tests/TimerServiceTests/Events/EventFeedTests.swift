import Platform
import TestSupport
import Testing
import TimerLog

@testable import TimerService

struct EventFeedTests {
    @Test func `rows are read one by one, until the newest`() throws {
        let rig = try Rig()
        let feed = EventFeed(rig.published)
        for id in ["a", "b"] {
            try rig.create(id)
            try rig.settle()
        }
        let log = try rows(of: rig.store)
        var reading = feed.reading(after: log[0].first)
        #expect(reading.next() == .row(log[0]))
        #expect(reading.next() == .row(log[1]))
        #expect(reading.next() == .none(newest: log[1].last))
        #expect(feed.head == log[1].last)
        #expect(feed.row(holding: log[0].first) == log[0])
        #expect(feed.positionState(of: log[1].last) == .given)
        rig.hub.reset(head: log[1].last + 100, keeping: log[1].last)
        #expect(reading.next() == .gone)
        #expect(feed.positionState(of: log[0].last) == .gone)
        #expect(!feed.holds(after: log[1].last))
        rig.stop()
    }

    @Test func `observers hear of every log that comes`() throws {
        let published = Published<ActiveLog?>(nil)
        let feed = EventFeed(published)
        let heard = Guarded(0)
        feed.observe { heard.withLock { $0 += 1 } }
        for count in 1...2 {
            let log = try ActiveLog(unfolded: MemoryLogStore())
            feed.follow(log)
            published.publish(log)
            log.hub.notify()
            #expect(heard.value == count)
        }
    }

    @Test func `a reading keeps the log that it was begun with`() throws {
        let published = Published<ActiveLog?>(nil)
        let feed = EventFeed(published)
        var without = feed.reading(after: 7)
        let log = try ActiveLog(unfolded: MemoryLogStore())
        published.publish(log)
        let rows = chain(count: 2)
        log.hub.publish(rows)
        #expect(without.next() == .none(newest: 7))
        var with = feed.reading(after: 0)
        published.publish(nil)
        #expect(with.next() == .row(rows[0]))
        #expect(feed.head == 0)
    }
}
