/// Reads rows on a connection of its own, in short read transactions.
///
/// The buffers of rows that `body` did not keep are used again from one read to the next.
final class SQLiteLogReader: LogReader {
    private let slot: ReaderSlot
    private let gate: ReaderGate
    private var batch: [LogRow] = []

    init(_ slot: ReaderSlot, of gate: ReaderGate) {
        self.slot = slot
        self.gate = gate
    }

    deinit { gate.remove(slot) }

    func read(from position: Int64, _ body: (LogRow) -> Bool) throws(StoreError) {
        var next = position
        if let row = try row(holding: position) {
            guard body(row), row.first < .max else { return }
            next = row.first + 1
        }
        // A caller that wants one row stops after it, so only the second read is large.
        var limit = 1
        while true {
            try slot.use { queries throws(StoreError) in
                try queries.fetch(from: next, limit: limit, into: &batch)
            }
            // A copy of the references: `body` may read on this reader.
            let rows = batch
            for row in rows {
                guard body(row), row.first < .max else { return }
                next = row.first + 1
            }
            if rows.isEmpty { return }
            limit = RowQueries.rowsARead
        }
    }

    func row(holding position: Int64) throws(StoreError) -> LogRow? {
        let row = try slot.use { queries throws(StoreError) in try queries.row(before: position) }
        guard let row, row.last >= position else { return nil }
        return row
    }
}
