import Platform
import TestSupport
import Testing
import TimerCore

@testable import PostgresLog
@testable import TimerLog

/// Rows that begin an epoch are in the log for everyone to read, and change nothing.
struct BarrierTests {
    @Test func `a log with rows that begin an epoch folds to what it would without them`() throws {
        let cluster = try Cluster()
        let store = try cluster.store()
        let base = TimeBase(
            now: .init(elapsed: 5, wallOffset: 6), boottime: 7, boot: Hash128(high: 9, low: 10))
        var (last, epoch): (Int64, Int64) = (0, 0)
        for batch in Int64(1)...3 {
            var records: [UInt8] = []
            RecordCodec.appendVersionFloor(batch, at: 1, to: &records)
            let first = batch * 40 + 20
            var rows = BatchRows.make(
                records: records, first: first, previous: last, epoch: epoch, base: base)
            guard case .absent(let head) = store.settle(rows, expecting: last, epoch: epoch) else {
                Issue.record("not settled")
                return
            }
            (rows[0].previous, rows[0].epoch, epoch) = (head.last, head.epoch, head.epoch)
            #expect(store.append(rows, epoch: epoch) == .durable)
            last = rows[0].last
        }
        var fold = LogFold(secret: try #require(store.secret))
        var kinds: [RowKind?] = []
        for row in try rows(of: store) {
            kinds.append(BatchHeader.kind(of: row))
            try fold.fold(row)
        }
        #expect(kinds == [.barrier, .events, .barrier, .events, .barrier, .events])
        #expect(fold.head == last)
        #expect(fold.lastBase == base)
        #expect(fold.deletedThrough == 0)
        // The verification of a whole log reads each record.
        for row in try rows(of: store.makeFollower()) { #expect(try BatchRows.read(row) { _ in true }.records == 1) }
    }
}
