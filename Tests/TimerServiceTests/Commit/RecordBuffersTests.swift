import TestSupport
import Testing
import TimerCore

@testable import TimerLog
@testable import TimerService

struct RecordBuffersTests {
    private let base = TimeBase(
        now: Now(elapsed: 11, wallOffset: 12), boottime: 13, boot: Hash128(high: 14, low: 15))

    /// Records of `bytes` each, with the tags 0, 1 and so on.
    private func append(_ count: Int, of bytes: Int, to batch: inout PendingBatch) {
        for tag in 0..<count {
            _ = batch.takePosition(at: base.now)
            write(UInt64(tag), of: bytes, to: &batch.records.open)
        }
    }

    private func write(_ tag: UInt64, of bytes: Int, to buffer: inout [UInt8]) {
        let answer = [UInt8](repeating: 7, count: bytes)
        RecordCodec.append(StoredAnswer(.numbered(tag), answeredAt: 0, answer: answer), to: &buffer)
    }

    private func tags(_ rows: [LogRow]) throws -> [UInt64] {
        var tags: [UInt64] = []
        for row in rows {
            try BatchRows.read(row) { record in
                if case .answer(let answer) = record.content { tags.append(answer.request.key.low) }
                return true
            }
        }
        return tags
    }

    @Test func `no buffer grows beyond its limit by more than a record`() throws {
        var batch = PendingBatch()
        batch.resume(head: 5, atOrAfter: 6)
        append(500, of: 20_000, to: &batch)
        #expect(batch.records.full.count == 9)
        for buffer in batch.records.full + [batch.records.open] {
            #expect(buffer.count < RecordBuffers.bufferBytes + 20_100)
            #expect(buffer.capacity < RecordBuffers.bufferBytes * 2)
        }
        #expect(batch.byteCount > 500 * 20_000)
    }

    @Test func `rows of several buffers hang together, and hold every record`() throws {
        var batch = PendingBatch()
        batch.resume(head: 5, atOrAfter: 6)
        append(500, of: 20_000, to: &batch)
        for tag in 500..<620 {
            write(UInt64(tag), of: 20_000, to: &batch.kicks.open)
            batch.countKick()
        }
        #expect(batch.kicks.full.count == 2)
        var ready = ReadyBatch()
        batch.move(into: &ready)
        #expect(batch.isEmpty && batch.byteCount == 0)
        ready.base = base
        let rows = ready.rows(after: ready.first - 1, epoch: 3)
        #expect(try tags(rows) == Array(0..<620))
        for (row, next) in zip(rows, rows.dropFirst()) {
            #expect(next.previous == row.last)
            #expect(next.first == row.last + 1)
        }
        #expect(rows.last?.last == batch.head)
        let empty = ready.emptied()
        #expect(empty.records.isEmpty && empty.kicks.isEmpty && empty.records.count == 0)
    }

    @Test(arguments: [1, 60]) func `a record that says nothing new shares the first row of the kicks`(_ kicks: Int)
        throws
    {
        var batch = PendingBatch()
        batch.resume(head: 5, atOrAfter: 6)
        append(1, of: 10, to: &batch)
        batch.noteTick()
        for tag in 1...kicks {
            write(UInt64(tag), of: 20_000, to: &batch.kicks.open)
            batch.countKick()
        }
        var ready = ReadyBatch()
        batch.move(into: &ready)
        ready.base = base
        let rows = ready.rows(after: ready.first - 1, epoch: 3)
        #expect(try tags(rows) == Array(0...UInt64(kicks)))
        #expect(try tags([#require(rows.first)]).starts(with: [0, 1]))
        #expect(rows.last?.last == batch.head)
    }
}
