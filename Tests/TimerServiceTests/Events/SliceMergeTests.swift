import TestSupport
import Testing
import TimerLog

@testable import TimerService

struct SliceMergeTests {
    private let layout: PartitionLayout

    init() throws { layout = try #require(PartitionLayout(strided: 4)) }

    /// Position of partition `number` in the 1024 positions numbered `turn`.
    private func at(_ turn: Int64, _ number: Int) -> Int64 { turn * 1024 + Int64(number) }

    /// A row of partition `number` with a record in each of `turns`.
    private func row(_ number: Int, _ turns: ClosedRange<Int64>, previous: Int64 = 0) -> LogRow {
        LogRow(
            first: at(turns.lowerBound, number), last: at(turns.upperBound, number), previous: previous,
            partition: Int32(number), stride: PartitionLayout.wideStride, data: pattern(turns.lowerBound, 100))
    }

    /// What a merge of `heads`, the partitions from 0 on, takes; no partition has a second row, and none is waited for.
    private func slices(of heads: [SliceMerge.Head], after position: Int64 = 0) -> (slices: [RowSlice], through: Int64)
    {
        var merge = SliceMerge(layout, numbers: Array(heads.indices), after: position)
        for (index, head) in heads.enumerated() { merge.set(index, head) }
        var slices: [RowSlice] = []
        while let taken = merge.take() {
            slices.append(taken.slice)
            #expect(taken.endsRow == (taken.slice.last == taken.slice.row.last))
            if taken.endsRow { merge.set(taken.index, .none(through: .max)) }
        }
        return (slices, merge.watermark)
    }

    @Test func `rows that lie apart are shown whole, in the order of ids`() {
        let rows = [row(0, 5...6), row(1, 1...2), row(2, 3...4)]
        let found = slices(of: rows.map { .row($0) })
        #expect(found.slices.map(\.row) == [rows[1], rows[2], rows[0]])
        #expect(found.slices.allSatisfy { $0.isWhole })
        #expect(found.slices.map(\.previous) == [0, at(2, 1), at(4, 2)])
        #expect(found.through == .max)
    }

    @Test func `rows that overlap are cut where the other one's records come`() {
        let rows = [row(0, 1...5), row(1, 3...3), row(2, 5...8)]
        let found = slices(of: rows.map { .row($0) })
        #expect(found.slices.map(\.row) == [rows[0], rows[1], rows[0], rows[2]])
        // Partition 0's record of turn 3 comes before partition 1's.
        #expect(found.slices.map(\.first) == [at(1, 0), at(3, 1), at(4, 0), at(5, 2)])
        #expect(found.slices.map(\.last) == [at(3, 0), at(3, 1), at(5, 0), at(8, 2)])
        #expect(found.slices.map(\.isWhole) == [false, true, false, true])
    }

    @Test func `rows side by side are shown record by record`() {
        let found = slices(of: [.row(row(0, 1...3)), .row(row(1, 1...3))])
        #expect(found.slices.map(\.first) == [1, 2, 3].flatMap { [at($0, 0), at($0, 1)] })
        #expect(found.slices.map(\.last) == found.slices.map(\.first))
    }

    @Test func `nothing is shown beyond what a partition without rows has promised`() {
        let rows = [row(0, 1...9), row(1, 2...4)]
        let found = slices(of: [.row(rows[0]), .row(rows[1]), .none(through: at(3, 3))])
        #expect(found.slices.map(\.last) == [at(2, 0), at(2, 1), at(3, 0), at(3, 1)])
        #expect(found.through == at(3, 3))
        let none = slices(of: [.row(rows[0]), .none(through: 0)])
        #expect(none.slices == [])
        #expect(none.through == 0)
    }

    @Test func `a row is shown from behind the reader's place on`() {
        let found = slices(of: [.row(row(0, 1...9)), .none(through: .max)], after: at(4, 0))
        #expect(found.slices.map(\.first) == [at(5, 0)])
        #expect(found.slices.map(\.previous) == [at(4, 0)])
        let between = slices(of: [.row(row(0, 1...9)), .none(through: .max)], after: at(4, 0) - 1)
        #expect(between.slices.map(\.first) == [at(4, 0)])
    }

    @Test func `nothing behind the end is taken`() {
        var merge = SliceMerge(layout, numbers: [0, 1], after: 0, end: at(3, 1))
        merge.set(0, .row(row(0, 1...9)))
        merge.set(1, .none(through: .max))
        #expect(merge.take()?.slice.last == at(3, 0))
        #expect(merge.take() == nil)
        #expect(merge.watermark == at(3, 1))
    }

    @Test func `a part of a row counts with a part of its bytes`() {
        let row = row(0, 1...10)
        let slices = slices(of: [.row(row), .row(self.row(1, 5...5)), .none(through: .max)]).slices
        let bytes = slices.filter { $0.row == row }.map(\.byteCount)
        #expect(bytes.count == 2)
        #expect((80...100).contains(bytes.reduce(0, +)))
    }

    @Test func `every record of small rows side by side counts with its bytes`() {
        let rows = (0..<3).map { row($0, 1...4) }
        let bytes = slices(of: rows.map { .row($0) }).slices.map(\.byteCount)
        #expect(bytes.count == 12)
        #expect(bytes == Array(repeating: rows[0].data.count / 4, count: 12))
    }
}
