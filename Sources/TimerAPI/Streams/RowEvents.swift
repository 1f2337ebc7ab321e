import TimerCore
import TimerLog
import WireJSON

/// The events of a row: decoded once, and written once in each format, however many streams of a loop show them.
final class RowEvents {
    let row: LogRow
    /// Its events; other records are none.
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
    /// - Throws: `damaged`, for a row that is not what was written once.
    init(_ row: LogRow) throws(StoreError) {
        self.row = row
        var events: [LogRecord] = []
        // By the header: a condensed row spans positions that nobody was given.
        events.reserveCapacity(BatchHeader(row.data.span)?.records ?? 0)
        try BatchRows.read(row) { record in
            if record.isEvent { events.append(record) }
            return true
        }
        self.events = events
    }

    /// Appends the event at `index` as streams of `format` show it.
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
