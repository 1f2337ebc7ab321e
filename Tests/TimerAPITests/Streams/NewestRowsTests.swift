import TestSupport
import Testing
import TimerLog

@testable import TimerAPI

struct NewestRowsTests {
    private let newest = NewestRows()

    @Test func `a row is decoded once, whoever asks`() throws {
        let first = try newest.events(of: answerRow(after: 5))
        #expect(try newest.events(of: answerRow(after: 5)) === first)
        #expect(try newest.events(of: answerRow(after: 6)) !== first)
        #expect(try newest.events(of: answerRow(after: 5)) === first)
    }

    @Test func `the oldest go when there are too many`() throws {
        let first = try newest.events(of: answerRow(after: 0))
        for position in 1..<Int64(NewestRows.mostRows) { _ = try newest.events(of: answerRow(after: position)) }
        #expect(try newest.events(of: answerRow(after: 0)) === first)
        _ = try newest.events(of: answerRow(after: 100))
        #expect(try newest.events(of: answerRow(after: 0)) !== first)
    }

    @Test func `the oldest go when they have too many bytes, the newest stays however long it is`() throws {
        let first = try newest.events(of: answerRow(after: 0))
        let large = try newest.events(of: answerRow(after: 1, bytes: NewestRows.mostBytes + 1))
        #expect(try newest.events(of: answerRow(after: 1, bytes: NewestRows.mostBytes + 1)) === large)
        #expect(try newest.events(of: answerRow(after: 0)) !== first)
    }

    @Test func `a damaged row is told to each who asks`() throws {
        var damaged = answerRow(after: 0)
        damaged.data[damaged.data.count - 1] ^= 1
        for _ in 0..<2 { #expect(throws: StoreError.self) { try newest.events(of: damaged) } }
    }
}
