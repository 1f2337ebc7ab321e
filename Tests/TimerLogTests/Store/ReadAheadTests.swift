import TestSupport
import Testing
import TimerCore

@testable import TimerLog

/// Rows read and decoded ahead, against the same rows read one after the other.
struct ReadAheadTests {
    /// The result of a fold.
    private struct Outcome: Equatable {
        var error: StoreError?
        var head: Int64
        var records: Int
        var deletedThrough: Int64?
        var timers: Int
    }

    private func outcome(_ read: (inout LogFold) throws(StoreError) -> Void) -> Outcome {
        var fold = LogFold(secret: [])
        var failure: StoreError?
        do throws(StoreError) { try read(&fold) } catch { failure = error }
        let (head, records, deletedThrough) = (fold.head, fold.records, fold.deletedThrough)
        return Outcome(
            error: failure, head: head, records: records, deletedThrough: deletedThrough, timers: fold.finish().count)
    }

    private func inPlace(_ rows: [LogRow]) -> Outcome {
        outcome { fold throws(StoreError) in
            for row in rows { try fold.fold(row) }
        }
    }

    private func ahead(_ rows: [LogRow]) throws -> Outcome {
        let store = try store(rows)
        return outcome { fold throws(StoreError) in
            try store.readAhead { row throws(StoreError) in try fold.fold(row) }
        }
    }

    private func store(_ rows: [LogRow]) throws -> FaultyLogStore {
        let store = FaultyLogStore()
        let head = try store.open()
        #expect(store.append(rows, expecting: head.last, epoch: head.epoch) == .durable)
        return store
    }

    private func timers(rows: Int, each: Int = 5, payload: Int = 0) -> [LogRow] {
        var script = LogScript()
        for row in 0..<rows {
            for timer in 0..<each {
                script.event(.created, "\(row)-\(timer)", payload: [UInt8](repeating: 49, count: payload))
            }
            script.row()
        }
        return script.rows
    }

    @Test(arguments: [(0, 0), (1, 0), (3000, 0), (300, 9000), (40, 300_000)])
    func `rows come in order, many and few, short and long`(count: Int, bytes: Int) throws {
        let rows = timers(rows: count, each: 1, payload: bytes)
        let store = try store(rows)
        var seen: [LogRow] = []
        try store.readAhead { row throws(StoreError) in seen.append(row.row) }
        #expect(seen == rows)
        #expect(try ahead(rows) == inPlace(rows))
        #expect(try ahead(rows).timers == count)
    }

    @Test func `damage is told as it is in place, wherever it lies, and what lies before it is folded`() throws {
        let sound = timers(rows: 4)
        for index in sound[2].data.indices {
            var rows = sound
            rows[2].data[index] ^= 0x10
            let outcome = try ahead(rows)
            #expect(outcome == inPlace(rows))
            // Damage to any byte is found, also in the row's head.
            #expect(outcome.error != nil, "byte \(index)")
            #expect(outcome.head == 10)
        }
    }

    @Test func `the first of two faults is told`() throws {
        var rows = timers(rows: 6)
        rows[4].data[rows[4].data.count - 1] ^= 1
        rows[2].data[rows[2].data.count - 1] ^= 1
        let outcome = try ahead(rows)
        #expect(outcome == inPlace(rows))
        #expect(outcome.error?.description == "the record at position 15 is damaged")
        #expect(outcome.head == 10 && outcome.timers == 14)
    }

    @Test func `a timer that no record defines is told before the damage behind it`() throws {
        var script = LogScript()
        script.event(.created, "a")
        script.row()
        script.event(.cancelled, "b")
        script.event(.created, "c")
        script.row()
        var rows = script.rows
        rows[1].data[rows[1].data.count - 1] ^= 1
        let outcome = try ahead(rows)
        #expect(outcome == inPlace(rows))
        #expect(outcome.error?.description.contains("that no record defines") == true)
    }

    @Test func `positions that can't be are no trouble`() {
        let data = timers(rows: 1)[0].data
        for (first, last) in [(1, .max), (.max, 1), (.min, .max), (0, 0), (.max, .max)] as [(Int64, Int64)] {
            let row = DecodedRow(LogRow(first: first, last: last, previous: 0, data: data))
            #expect(throws: StoreError.self) { try row.header.get() }
        }
    }

    @Test(arguments: [0, 1, 7, 39])
    func `a failing read is told after the rows before it`(rows: Int) throws {
        let store = try store(timers(rows: 40, each: 1, payload: 100_000))
        store.failReads(1, after: rows)
        var seen = 0
        let error = #expect(throws: StoreError.self) {
            try store.readAhead { _ throws(StoreError) in seen += 1 }
        }
        #expect(error == FaultyLogStore.failure)
        #expect(seen == rows)
    }

    @Test func `a store that gives no reader is told`() throws {
        let store = try store([])
        store.close()
        #expect(throws: StoreError.self) { try store.readAhead { _ throws(StoreError) in } }
    }

    @Test func `a body that throws gets no further row, and few are read in vain`() throws {
        let rows = timers(rows: 60, each: 1, payload: BatchRows.maximumRowBytes)
        let store = try store(rows)
        var seen = 0
        let error = #expect(throws: StoreError.self) {
            try store.readAhead { row throws(StoreError) in
                seen += 1
                if seen == 3 { throw StoreError(.damaged, "enough") }
            }
        }
        #expect(error == StoreError(.damaged, "enough"))
        #expect(seen == 3)
        // Three were taken, four may wait, and one is at hand.
        #expect(store.readCount <= 8)
    }
}
