import TimerCore
import TimerLog

/// Collects a portion.
struct StreamPortionDraft {
    /// Bytes from which on a portion is handed out. Few enough for a slow reader's buffer, enough for few sends.
    private static let fullBytes = 32 * 1024

    private let key: StreamChannel.Key
    private var bytes: [UInt8] = []
    private var events: [(position: Int64, end: Int)] = []
    private var closings: [StreamPortion.Closing] = []

    init(_ key: StreamChannel.Key) { self.key = key }

    var isEmpty: Bool { events.isEmpty && closings.isEmpty }
    var isFull: Bool { bytes.count >= Self.fullBytes }

    /// Takes the event at `index`, where the channel's streams are concerned.
    mutating func take(_ index: Int, of row: RowEvents) {
        let record = row.events[index]
        let data = row.row.data
        let definition = data.span.extracting(record.definition)
        guard key.filter.isOf(definition), case .event(let type, _, _) = record.content else { return }
        // What ends the streams of a timer does so whether they show it or not.
        if key.filter.timer != nil, type == .deleted || type == .completed || type == .cancelled {
            closings.append(StreamPortion.Closing(position: record.position, type: type))
        }
        guard key.filter.shows(type), StreamFilter.carries(key.filter.labels, definition) else { return }
        row.append(index, as: key.format, to: &bytes)
        events.append((record.position, bytes.count))
    }

    /// Takes the events of a row behind `cursor` until it is full. Returns up to where it has looked.
    mutating func take(_ row: RowEvents, after cursor: StreamCursor) -> StreamCursor {
        for index in row.events.indices where !cursor.covers(row.events[index].position) {
            take(index, of: row)
            if isFull { return StreamCursor(row.events[index].position) }
        }
        return max(cursor, StreamCursor(row.row.last))
    }

    /// What was taken, everything up to `cursor` having been looked at. Begins anew.
    mutating func finish(through cursor: StreamCursor) -> StreamPortion {
        let portion = StreamPortion(through: cursor, events: events, bytes: bytes, closings: closings)
        self = StreamPortionDraft(key)
        return portion
    }
}
