import Platform
import TimerLog

/// The rows that were decoded last, for all loops: each loop passes over the same new rows, so the first that needs a row
/// decodes it. Any thread.
final class NewestRows: Sendable {
    /// Oldest first.
    private let kept = Guarded<[EventRow]>([])

    /// Rows are kept up to this many, and up to this many bytes of data.
    static let mostRows = 16
    static let mostBytes = 1 << 20

    /// The events of `row`. A loop that needs a row which another one is decoding waits for it.
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
