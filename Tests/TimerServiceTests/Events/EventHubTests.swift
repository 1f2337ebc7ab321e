import Platform
import TestSupport
import Testing
import TimerLog

@testable import TimerService

struct EventHubTests {
    private let hub = EventHub(head: 100)

    @Test func `rows after a position are those that hold later ones`() throws {
        let rows = chain(after: 100, count: 3)
        #expect(hub.head == 100)
        #expect(hub.rows(after: 100)?.rows == [])
        hub.publish(rows)
        #expect(hub.head == 130)
        #expect(hub.rows(after: 100)?.rows == rows)
        #expect(hub.rows(after: 109)?.rows == rows)
        #expect(hub.rows(after: 110)?.rows == Array(rows[1...]))
        #expect(hub.rows(after: 129)?.rows == Array(rows[2...]))
        #expect(hub.rows(after: 130)?.rows == [])
        #expect(hub.rows(after: 100)?.through == 130)
        #expect(hub.rows(after: 99) == nil)
    }

    @Test func `above its capacity the oldest rows go`() throws {
        let size = 1 << 20
        let count = RecentRows.capacityBytes / size
        let rows = chain(after: 100, count: count + 5, bytes: size)
        for row in rows { hub.publish([row]) }
        #expect(hub.floor == rows[4].last)
        #expect(hub.rows(after: rows[4].last - 1) == nil)
        #expect(hub.rows(after: rows[4].last)?.rows == Array(rows[5...]))
        #expect(!hub.holds(after: 100))
        #expect(hub.holds(after: rows[4].last))
    }

    @Test func `what shrank holds a few of the newest rows, and takes more`() throws {
        let size = RecentRows.restingBytes / 4
        let rows = chain(after: 100, count: 20, bytes: size)
        hub.publish(Array(rows[..<19]))
        hub.shrink()
        #expect(hub.floor == rows[14].last)
        #expect(hub.rows(after: rows[13].last) == nil)
        hub.publish([rows[19]])
        #expect(hub.rows(after: rows[14].last)?.rows == Array(rows[15...]))
        #expect(hub.row(holding: rows[3].last) == nil)
    }

    @Test func `the newest row stays, however large`() throws {
        let rows = chain(after: 100, count: 2, bytes: RecentRows.capacityBytes + 1)
        for row in rows { hub.publish([row]) }
        #expect(hub.rows(after: 110)?.rows == [rows[1]])
        #expect(hub.rows(after: 100) == nil)
    }

    @Test func `thousands of rows pass through`() throws {
        let rows = chain(after: 100, count: 3000, bytes: RecentRows.capacityBytes / 500)
        for row in rows {
            hub.publish([row])
            #expect(hub.rows(after: row.previous)?.rows == [row])
        }
        #expect(hub.rows(after: hub.floor)?.rows == Array(rows[2500...]))
    }

    @Test func `rows that others wrote are not in memory`() throws {
        hub.publish(chain(after: 100, count: 2))
        hub.reset(head: 120, keeping: 120)
        #expect(hub.rows(after: 100)?.rows.count == 2)
        hub.reset(head: 500, keeping: 500)
        #expect(hub.head == 500)
        #expect(hub.rows(after: 120) == nil)
        #expect(hub.rows(after: 500)?.rows == [])
        let next = chain(after: 500, count: 1)
        hub.publish(next)
        #expect(hub.rows(after: 500)?.rows == next)
    }

    @Test func `every observer hears of every publication`() {
        let heard = Guarded<[Int]>([])
        for number in 0..<3 { hub.observe { heard.withLock { $0.append(number) } } }
        hub.notify()
        hub.notify()
        #expect(heard.value == [0, 1, 2, 0, 1, 2])
    }
}
