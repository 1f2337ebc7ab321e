import TestSupport
import Testing
import TimerLog

@testable import TimerAPI
@testable import TimerCore
@testable import TimerService

struct SliceEventsTests {
    /// A row with the events 11 to 15.
    private func row() throws -> LogRow {
        var records: [UInt8] = []
        var effect = Effect(type: .created, at: 1, slot: 0, progress: TimerProgress())
        let definition = definition("a")
        for _ in 0..<5 {
            RecordCodec.append(
                effect, effect.type ?? .created, distance: 0, definition: definition.span, to: &records)
            effect.type = .suspended
        }
        let base = TimeBase(now: Now(elapsed: 0, wallOffset: 0), boottime: 0, boot: Hash128(high: 0, low: 0))
        let rows = BatchRows.make(records: records, first: 11, previous: 10, epoch: 0, base: base)
        return try #require(rows.first)
    }

    private func events(_ slice: RowSlice) throws -> [Int64] {
        let row = RowEvents(try EventRow(slice.row))
        let part = SliceEvents(slice, of: row)
        #expect(part.last == slice.last)
        return part.indices.map { row.events[$0].position }
    }

    @Test func `a part of a row has the events from its first to its last position`() throws {
        let row = try row()
        #expect(try events(RowSlice(row)) == [11, 12, 13, 14, 15])
        for (first, last) in [(11, 12), (13, 13), (12, 15), (11, 15)] as [(Int64, Int64)] {
            let slice = RowSlice(row, first: first, last: last, previous: first - 1)
            #expect(try events(slice) == Array(first...last))
        }
    }

    @Test func `a draft takes of a part what comes behind its reader`() throws {
        let row = try row()
        let events = RowEvents(try EventRow(row))
        let part = SliceEvents(RowSlice(row, first: 12, last: 14, previous: 11), of: events)
        let key = StreamChannel.Key(filter: StreamFilter(), format: .ndjson)
        for (cursor, count) in [(0, 3), (11, 3), (12, 2), (14, 0)] as [(Int64, Int)] {
            var draft = StreamPortionDraft(key)
            #expect(draft.take(part, after: StreamCursor(cursor)) == StreamCursor(14))
            let stream = EventStream(
                id: 1, plan: StreamPlan(), channel: StreamChannel(key), partition: nil, sink: .closed, origin: nil,
                now: 0)
            #expect(draft.finish(through: StreamCursor(14)).share(of: stream).count == count)
        }
    }
}
