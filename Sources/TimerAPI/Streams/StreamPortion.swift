import HTTPServer
import TimerCore
import TimerLog

/// The events that a run of records holds for the streams of a channel, as bytes to be sent.
final class StreamPortion {
    /// An event that ends streams of one timer.
    struct Closing {
        var position: Int64
        var type: EventType
    }

    /// The end of the run of records, which begins where the portion before it ended.
    let through: StreamCursor
    /// The positions of the events, and the offset at which each one's bytes end.
    private let events: [(position: Int64, end: Int)]
    private let closings: [Closing]
    /// The bytes of all the events; nil if there are none.
    private let chunk: StreamChunk?

    init(through: StreamCursor, events: [(position: Int64, end: Int)], bytes: [UInt8], closings: [Closing]) {
        self.through = through
        self.events = events
        self.closings = closings
        chunk = bytes.isEmpty ? nil : StreamChunk(bytes)
    }

    /// The part of a portion that one stream receives.
    struct Share {
        /// The number of events.
        var count: Int
        /// The bytes of the events; nil if there are none.
        var chunk: StreamChunk?
        /// The stream's cursor after them.
        var cursor: StreamCursor
        /// Whether the stream ends after them.
        var isLast: Bool
    }

    /// Returns the part for `stream`: the events after its cursor and up to its end, no more than its limit allows.
    func share(of stream: EventStream) -> Share {
        let closing = closings.first { !stream.cursor.covers($0.position) && ends(stream, $0) }
        let end = min(stream.end ?? .max, closing?.position ?? .max)
        let lower = events.firstIndex { !stream.cursor.covers($0.position) } ?? events.count
        var upper = lower
        if events.last.map({ $0.position <= end }) ?? true { upper = events.count }
        while upper < events.count && events[upper].position <= end { upper += 1 }
        let isWhole = upper - lower < stream.left
        if !isWhole { upper = lower + stream.left }
        let cursor = StreamCursor(isWhole ? min(end, through.position) : events[upper - 1].position)
        return Share(
            count: upper - lower, chunk: chunk(lower..<upper), cursor: cursor, isLast: !isWhole || through.covers(end))
    }

    private func chunk(_ range: Range<Int>) -> StreamChunk? {
        guard let chunk, !range.isEmpty else { return nil }
        if range.count == events.count { return chunk }
        let start = range.lowerBound > 0 ? events[range.lowerBound - 1].end : 0
        return StreamChunk(chunk.bytes.dropFirst(start).prefix(events[range.upperBound - 1].end - start))
    }

    /// Whether no event can follow for `stream`: its timer was deleted, or a poll's timer has ended for good.
    /// Closings from before the stream's request don't count, since the timer existed when the request was made.
    private func ends(_ stream: EventStream, _ closing: Closing) -> Bool {
        guard closing.position > stream.begunAt else { return false }
        return closing.type == .deleted || stream.isPoll && !stream.isRestartable
    }
}

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
