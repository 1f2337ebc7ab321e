import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerAPI

struct NewestRowsTests {
    private let newest = NewestRows()

    /// A row of one record that is no event, after the position `previous`; `bytes` of it are an answer's text.
    private func row(after previous: Int64, bytes: Int = 10) throws -> LogRow {
        var records: [UInt8] = []
        let number = Hash128(high: 0, low: UInt64(previous))
        let answer = StoredAnswer(
            .numbered(UInt64(previous)), answeredAt: 0, answer: [UInt8](repeating: 7, count: bytes))
        RecordCodec.append(answer, to: &records)
        let base = TimeBase(now: Now(elapsed: 0, wallOffset: 0), boottime: 0, boot: number)
        let rows = BatchRows.make(records: records, first: previous + 1, previous: previous, epoch: 0, base: base)
        return try #require(rows.first)
    }

    @Test func `a row is decoded once, whoever asks`() throws {
        let first = try newest.events(of: row(after: 5))
        #expect(try newest.events(of: row(after: 5)) === first)
        #expect(try newest.events(of: row(after: 6)) !== first)
        #expect(try newest.events(of: row(after: 5)) === first)
    }

    @Test func `the oldest go when there are too many`() throws {
        let first = try newest.events(of: row(after: 0))
        for position in 1..<Int64(NewestRows.mostRows) { _ = try newest.events(of: row(after: position)) }
        #expect(try newest.events(of: row(after: 0)) === first)
        _ = try newest.events(of: row(after: 100))
        #expect(try newest.events(of: row(after: 0)) !== first)
    }

    @Test func `the oldest go when they have too many bytes, the newest stays however long it is`() throws {
        let first = try newest.events(of: row(after: 0))
        let large = try newest.events(of: row(after: 1, bytes: NewestRows.mostBytes + 1))
        #expect(try newest.events(of: row(after: 1, bytes: NewestRows.mostBytes + 1)) === large)
        #expect(try newest.events(of: row(after: 0)) !== first)
    }

    @Test func `a damaged row is told to each who asks`() throws {
        var damaged = try row(after: 0)
        damaged.data[damaged.data.count - 1] ^= 1
        for _ in 0..<2 { #expect(throws: StoreError.self) { try newest.events(of: damaged) } }
    }
}
