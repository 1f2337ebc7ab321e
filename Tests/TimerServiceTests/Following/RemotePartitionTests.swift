import Platform
import TestSupport
import Testing
import TimerLog

@testable import TimerService

struct RemotePartitionTests {
    private let remote: RemotePartition

    init() throws {
        let layout = try #require(PartitionLayout(strided: 2))
        let store = MemoryLogStore()
        remote = RemotePartition(PartitionPlace(1, of: layout)) { _ throws(StoreError) in
            try store.makeReader()
        } clock: {
            77
        }
    }

    private func row(_ first: Int64, _ last: Int64, behind previous: Int64) -> LogRow {
        LogRow(first: first, last: last, previous: previous, partition: 1, stride: 1024, data: pattern(first, 40))
    }

    private func rows(_ after: Int64, _ through: Int64, _ rows: [LogRow]) -> FeedFact {
        .rows(partition: 1, after: after, through: through, rows)
    }

    private var held: [Int64] { remote.hub.rows(after: remote.hub.floor)?.rows.map(\.first) ?? [] }

    @Test func `facts may come twice, late, and from two owners`() throws {
        let (first, second, third) = (
            row(1025, 2049, behind: 0), row(3073, 3073, behind: 2049), row(5121, 5121, behind: 3073)
        )
        let facts = [rows(0, 2049, [first]), rows(0, 4000, [first, second]), rows(3500, 6000, [third])]
        let heard = Guarded(0)
        remote.hub.observe { heard.withLock { $0 += 1 } }
        for fact in facts { try remote.take(fact) }
        #expect(heard.value == 3 && held == [1025, 3073, 5121] && remote.known == 6000)
        for fact in facts { try remote.take(fact) }
        try remote.take(.behind(partition: 1, head: 5121))
        #expect(heard.value == 3 && held == [1025, 3073, 5121] && remote.known == 6000)
        #expect(remote.promise(through: 6000) == 6000)
    }

    @Test func `what would leave a gap, or begins within what is known, is refused`() throws {
        try remote.take(rows(0, 3000, [row(1025, 2049, behind: 0)]))
        #expect(throws: FrameError.gap) { try remote.take(rows(3001, 4000, [])) }
        #expect(throws: FrameError.disordered) {
            try remote.take(rows(1025, 4000, [row(2049, 4000, behind: 1025)]))
        }
        #expect(remote.known == 3000 && held == [1025])
    }

    @Test func `rows that were passed over are read from the store`() throws {
        try remote.take(rows(0, 3000, [row(1025, 2049, behind: 0)]))
        try remote.take(.behind(partition: 1, head: 9217))
        #expect(remote.hub.floor == 9217 && remote.known == 9217 && remote.hub.head == 9217)
        #expect(remote.hub.row(after: 3000) == .gone)
        try remote.take(rows(9217, 12_000, [row(10_241, 10_241, behind: 9217)]))
        #expect(held == [10_241])
    }

    @Test func `a partition that was here goes on behind what was shown`() throws {
        let layout = try #require(PartitionLayout(strided: 2))
        let place = PartitionPlace(1, of: layout)
        let local = try FeedPartition(1, layout)
        local.hub.publish([row(1025, 2049, behind: 0)])
        local.delete(through: 300)
        let heir = RemotePartition(place, after: local) { _ throws(StoreError) in
            throw StoreError(.io, "not read")
        } clock: {
            0
        }
        // Its committer was about to show this row, which the next owner tells too.
        let last = row(3073, 3073, behind: 2049)
        local.hub.publish([last])
        #expect(heir.isHeard && heir.known == 2049 && heir.horizon == 300)
        try heir.take(rows(2049, 9000, [last, row(8193, 8193, behind: 5121)]))
        #expect(heir.hub.rows(after: 0)?.rows.map(\.first) == [1025, 3073, 8193])
    }

    @Test func `nothing is known before an owner has told, and the clock is the own`() {
        #expect(!remote.isHeard && remote.isRemote && remote.clockPosition == 77)
        #expect(remote.promise(through: 10) == 0)
    }
}
