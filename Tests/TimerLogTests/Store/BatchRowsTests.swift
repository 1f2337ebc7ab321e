import Platform
import TestSupport
import Testing

@testable import TimerCore
@testable import TimerLog

struct BatchRowsTests {
    private let base = TimeBase(
        now: Now(elapsed: 11, wallOffset: -12, downtime: .min), boottime: 13, boot: Hash128(high: .max, low: 16))

    private func answer(_ count: Int, tag: UInt64 = 0) -> [UInt8] {
        var bytes: [UInt8] = []
        let answer = [UInt8](repeating: UInt8(tag & 255), count: count)
        RecordCodec.append(StoredAnswer(.numbered(tag), answeredAt: 0, answer: answer), to: &bytes)
        return bytes
    }

    private func tags(_ row: LogRow) throws -> [UInt64] {
        var tags: [UInt64] = []
        try BatchRows.read(row) { record in
            if case .answer(let answer) = record.content { tags.append(answer.request.key.low) }
            return true
        }
        return tags
    }

    @Test func `a large batch is cut into rows that hang together`() throws {
        var records: [UInt8] = []
        for tag in 0..<2000 { records += answer(997, tag: UInt64(tag)) }
        let rows = BatchRows.make(records: records, first: 501, previous: 77, epoch: 3, base: base)
        #expect(rows.count == 8)
        var previous: Int64 = 77
        var next: Int64 = 501
        for row in rows {
            #expect(row.previous == previous)
            #expect(row.first == next)
            #expect(row.epoch == 3)
            #expect(row.data.count <= BatchRows.maximumRowBytes)
            #expect(try tags(row) == (row.first...row.last).map { UInt64($0 - 501) })
            previous = row.last
            next = row.last + 1
        }
        #expect(next == 2501)
        // No row could have taken the next record as well.
        for row in rows.dropLast() { #expect(row.data.count + answer(997).count > BatchRows.maximumRowBytes) }
    }

    @Test(arguments: [(-1, 1), (0, 1), (1, 2)])
    func `a row is full at exactly its limit`(_ excess: Int, _ count: Int) {
        let room = BatchRows.maximumRowBytes - BatchHeader.count - 2 * answer(0).count
        let records = answer(1000) + answer(room - 1000 + excess)
        let rows = BatchRows.make(records: records, first: 1, previous: 0, epoch: 0, base: base)
        #expect(rows.count == count)
        #expect(rows.reduce(0) { $0 + $1.last - $1.first + 1 } == 2)
    }

    @Test func `a record larger than a row has one of its own`() throws {
        let records = answer(10, tag: 1) + answer(300_000, tag: 2) + answer(10, tag: 3)
        let rows = BatchRows.make(records: records, first: 1, previous: 0, epoch: 0, base: base)
        #expect(try rows.map { try tags($0) } == [[1], [2], [3]])
        #expect(rows.map(\.last) == [1, 2, 3])
        #expect(rows.map(\.previous) == [0, 1, 2])
    }

    @Test func `no records make no rows`() {
        #expect(BatchRows.make(records: [], first: 1, previous: 0, epoch: 0, base: base) == [])
    }

    @Test func `reading stops where the reader has enough`() throws {
        let rows = BatchRows.make(
            records: answer(1) + answer(2) + answer(3), first: 1, previous: 0, epoch: 0, base: base)
        var count = 0
        let header = try BatchRows.read(try #require(rows.first)) { _ in
            count += 1
            return count < 2
        }
        #expect(count == 2)
        #expect(header == BatchHeader(base: base, records: 3))
    }

    @Test func `the header says every clock`() throws {
        var bytes: [UInt8] = []
        BatchHeader(base: base, records: 9).append(to: &bytes)
        #expect(bytes.count == BatchHeader.count)
        #expect(BatchHeader(bytes.span) == BatchHeader(base: base, records: 9))
        #expect(BatchHeader((bytes + [1, 2]).span) == BatchHeader(base: base, records: 9))
    }

    @Test(arguments: 1...BatchHeader.format)
    func `rows of every format so far are read`(_ format: UInt8) {
        var bytes: [UInt8] = []
        BatchHeader(base: base, records: 9).append(to: &bytes)
        bytes[0] = format
        bytes.removeSubrange((BatchHeader.count - 4)...)
        RecordCodec.appendFixed(UInt64(CRC32C.checksum(bytes.span)), count: 4, to: &bytes)
        #expect(BatchHeader(bytes.span) == BatchHeader(base: base, records: 9))
    }

    @Test func `a newer format is refused, whatever it holds`() {
        var bytes: [UInt8] = []
        BatchHeader(base: base, records: 1).append(to: &bytes)
        bytes[0] = BatchHeader.format + 1
        bytes.removeSubrange((BatchHeader.count - 4)...)
        RecordCodec.appendFixed(UInt64(CRC32C.checksum(bytes.span)), count: 4, to: &bytes)
        #expect(BatchHeader(bytes.span) == nil)
        var row = LogRow(first: 7, last: 7, previous: 0, data: bytes)
        let known = BatchHeader.format
        let message =
            "the row at position 7 has format \(known + 1), written by a newer timerd; this one reads up to \(known)"
        #expect(throws: StoreError(.unusable, message)) { try BatchRows.read(row) { _ in true } }
        // A row that only looks newer is damaged.
        row.data[5] ^= 1
        let error = #expect(throws: StoreError.self) { try BatchRows.read(row) { _ in true } }
        #expect(error?.kind == .damaged)
    }

    @Test(arguments: [(1, 2), (1, 4), (0, 2), (-2, 0), (3, 1), (Int64.min, Int64.max), (Int64.max - 2, Int64.max - 1)])
    func `a row whose positions do not fit its records is refused`(_ first: Int64, _ last: Int64) throws {
        let rows = BatchRows.make(
            records: answer(1) + answer(2) + answer(3), first: 1, previous: 0, epoch: 0, base: base)
        var row = try #require(rows.first)
        row.first = first
        row.last = last
        let error = #expect(throws: StoreError.self) { try BatchRows.read(row) { _ in true } }
        #expect(error?.kind == .damaged)
    }
}
