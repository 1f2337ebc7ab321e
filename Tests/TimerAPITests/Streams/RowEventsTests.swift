import TestSupport
import Testing
import TimerLog

@testable import TimerAPI
@testable import TimerCore
@testable import TimerService

struct RowEventsTests {
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

    @Test func `a draft takes of a row what comes after its reader`() throws {
        let events = RowEvents(try EventRow(row()))
        #expect(events.events.map(\.position) == [11, 12, 13, 14, 15])
        let key = StreamChannel.Key(filter: StreamFilter(), format: .ndjson)
        for (cursor, count) in [(0, 5), (10, 5), (12, 3), (15, 0)] as [(Int64, Int)] {
            var draft = StreamPortionDraft(key)
            #expect(draft.take(events, after: StreamCursor(cursor)) == StreamCursor(15))
            let stream = EventStream(
                id: 1, plan: StreamPlan(), table: nil, channel: StreamChannel(key), sink: .closed, origin: nil, now: 0)
            #expect(draft.finish(through: StreamCursor(15)).share(of: stream).count == count)
        }
    }
}
