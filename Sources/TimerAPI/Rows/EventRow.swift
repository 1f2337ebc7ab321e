import TimerLog

/// A row with its events, decoded.
final class EventRow: Sendable {
    let row: LogRow
    /// The row's events; its other records are left out.
    let events: [LogRecord]

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
}
