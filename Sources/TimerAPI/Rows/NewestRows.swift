import Platform
import TimerLog

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
