import TimerLog

/// A reader that leaves out some rows, the same ones each time, and hides that: a mistake that histories must find.
final class SkippingReader: LogReader {
    private let inner: any LogReader

    init(_ inner: any LogReader) { self.inner = inner }

    func read(from position: Int64, _ body: (LogRow) -> Bool) throws(StoreError) {
        var previous: Int64?
        try inner.read(from: position) { row in
            if row.first % 8 == 0, BatchHeader.kind(of: row) != .barrier {
                previous = previous ?? row.previous
                return true
            }
            var row = row
            if let hidden = previous { row.previous = hidden }
            previous = nil
            return body(row)
        }
    }

    func row(holding position: Int64) throws(StoreError) -> LogRow? { try inner.row(holding: position) }
}
