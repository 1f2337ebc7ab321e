import TimerCore
import TimerLog
import WireJSON

/// The events of a row. They are decoded once, and written once in each format, for all streams of a loop.
final class RowEvents {
    let row: LogRow
    /// The row's events; its other records are left out.
    let events: [LogRecord]
    private var ndjson = Texts()
    private var sse = Texts()

    /// What has been written in one format.
    private struct Texts: ~Copyable {
        var json = JSONWriter()
        var ranges: [Range<Int>] = []
    }

    /// Decodes a row.
    ///
    /// - Throws: `damaged` if the row's bytes are not those that were written.
    init(_ row: LogRow) throws(StoreError) {
        self.row = row
        var events: [LogRecord] = []
        // The header counts the records: a condensed row spans more positions than it has records.
        events.reserveCapacity(BatchHeader(row.data.span)?.records ?? 0)
        try BatchRows.read(row) { record in
            if record.isEvent { events.append(record) }
            return true
        }
        self.events = events
    }

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
