import TimerCore
import TimerLog
import WireJSON

/// The events of a row as a loop shows them: they are written once in each format for all its streams.
final class RowEvents {
    private let decoded: EventRow
    var row: LogRow { decoded.row }
    /// The row's events; its other records are left out.
    var events: [LogRecord] { decoded.events }
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
