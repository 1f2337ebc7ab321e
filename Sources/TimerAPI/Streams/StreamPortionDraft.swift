import TimerCore
import TimerLog

/// Collects the events of a portion.
struct StreamPortionDraft {
    /// The bytes at which a portion is full: few enough for a slow reader's buffer, and enough to keep the sends few.
    private static let fullBytes = 32 * 1024

    private let key: StreamChannel.Key
    private var bytes: [UInt8] = []
    private var events: [(position: Int64, end: Int)] = []
    private var closings: [StreamPortion.Closing] = []

    init(_ key: StreamChannel.Key) { self.key = key }

    var isEmpty: Bool { events.isEmpty && closings.isEmpty }
    var isFull: Bool { bytes.count >= Self.fullBytes }

    /// Takes the event at `index`, if it concerns the channel's streams.
    mutating func take(_ index: Int, of row: RowEvents) {
        let record = row.events[index]
        let data = row.row.data
        let definition = data.span.extracting(record.definition)
        guard key.filter.isOf(definition), case .event(let type, _, _) = record.content else { return }
        // An event that ends the streams of its timer does so even if they don't show its type.
        if key.filter.timer != nil, type == .deleted || type == .completed || type == .cancelled {
            closings.append(StreamPortion.Closing(position: record.position, type: type))
        }
        guard key.filter.shows(type), StreamFilter.carries(key.filter.labels, definition) else { return }
        row.append(index, as: key.format, to: &bytes)
        events.append((record.position, bytes.count))
    }

    /// Takes the events of a row after `cursor` until the draft is full. Returns the cursor after what was examined.
    mutating func take(_ row: RowEvents, after cursor: StreamCursor) -> StreamCursor {
        for index in row.events.indices where !cursor.covers(row.events[index].position) {
            take(index, of: row)
            if isFull { return StreamCursor(row.events[index].position) }
        }
        return max(cursor, StreamCursor(row.row.last))
    }

    /// Makes a portion of the events taken, which reaches up to `cursor`, and empties the draft.
    mutating func finish(through cursor: StreamCursor) -> StreamPortion {
        let portion = StreamPortion(through: cursor, events: events, bytes: bytes, closings: closings)
        self = StreamPortionDraft(key)
        return portion
    }
}
