import Platform
import TimerCore
import TimerLog
import WireJSON

/// The events of a row as a loop shows them: they are written once in each format for all its streams.
final class RowEvents {
    private let decoded: EventRow
    var row: LogRow { decoded.row }
    /// The row's events; its other records are left out.
    var events: [LogRecord] { decoded.events }
    /// Whether the server is drained after the row; nil where the row does not say.
    var isDrained: Bool? { decoded.isDrained }
    private var ndjson = Texts()
    private var sse = Texts()

    /// The events that have been written in one format.
    private struct Texts: ~Copyable {
        var json = JSONWriter()
        var ranges: [Range<Int>] = []
    }

    /// Wraps a decoded row.
    init(_ decoded: EventRow) { self.decoded = decoded }

    /// Appends the event at `index` as `format` writes it.
    func append(_ index: Int, as format: StreamFormat, to bytes: inout [UInt8]) {
        switch format {
        case .ndjson: append(index, format, &ndjson, to: &bytes)
        case .sse: append(index, format, &sse, to: &bytes)
        }
    }

    private func append(_ index: Int, _ format: StreamFormat, _ texts: inout Texts, to bytes: inout [UInt8]) {
        if texts.ranges.isEmpty { texts.ranges = [Range<Int>](repeating: 0..<0, count: events.count) }
        if texts.ranges[index].isEmpty {
            let start = texts.json.count
            EventJSON.write(events[index], row.data, as: format, &texts.json)
            texts.ranges[index] = start..<texts.json.count
        }
        texts.json.append(texts.ranges[index], to: &bytes)
    }
}

/// A row with its events, decoded.
final class EventRow: Sendable {
    let row: LogRow
    /// The row's events; its other records are left out.
    let events: [LogRecord]
    /// Whether the server is drained after the row; nil where the row does not say.
    let isDrained: Bool?

    /// Decodes a row.
    ///
    /// - Throws: `damaged` if the row's bytes are not those that were written.
    init(_ row: LogRow) throws(StoreError) {
        self.row = row
        var events: [LogRecord] = []
        // The header counts the records: a condensed row spans more positions than it has records.
        events.reserveCapacity(BatchHeader(row.data.span)?.records ?? 0)
        var drain: Bool?
        try BatchRows.read(row) { record in
            if record.isEvent { events.append(record) }
            if case .drain(let isDrained, _) = record.content { drain = isDrained }
            return true
        }
        (self.events, isDrained) = (events, drain)
    }
}

/// The rows that were decoded last, for all loops: each loop passes over the same new rows, so the first that needs a
/// row decodes it. May be used on any thread.
final class NewestRows: Sendable {
    /// The rows that are kept, oldest first.
    private let kept = Guarded<[EventRow]>([])

    /// The most rows, and the most bytes of their data, that are kept; the newest row is kept whatever its size.
    static let mostRows = 16
    static let mostBytes = 1 << 20

    /// Returns the events of `row`. A loop that needs a row which another one is decoding waits for it.
    func events(of row: LogRow) throws(StoreError) -> EventRow {
        try kept.withLock { kept throws(StoreError) in
            if let known = kept.last(where: { $0.row.first == row.first && $0.row.last == row.last }) { return known }
            let decoded = try EventRow(row)
            kept.append(decoded)
            var bytes = kept.reduce(0) { $0 + $1.row.data.count }
            while kept.count > Self.mostRows || kept.count > 1 && bytes > Self.mostBytes {
                bytes -= kept.removeFirst().row.data.count
            }
            return decoded
        }
    }
}
