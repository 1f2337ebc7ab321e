/// The queries a reader makes, prepared on a connection of its own.
final class RowQueries {
    /// The most bytes of row data that one read transaction fetches, but for a single larger row: the WAL can't
    /// start over while a transaction lasts.
    static let bytesPerRead = 1 << 20
    /// The page cache of a reader, in KiB: rows are read once, so a few pages do.
    private static let cacheKiB = 256
    /// How long a call waits while the database recovers or is locked by an operator.
    static let busyMilliseconds: Int32 = 5000

    /// The connection, on which the owner of the object may run queries of its own.
    let connection: SQLiteConnection
    private let rows: SQLiteStatement
    private let rowBefore: SQLiteStatement

    /// Opens `path` for reading.
    init(path: String, vfs: String? = nil) throws(StoreError) {
        (connection, rows, rowBefore) = try SQLiteSchema.attempt("opening \(path)") { () throws(SQLiteFailure) in
            let connection = try SQLiteConnection(path: path, .readOnly, vfs: vfs)
            connection.setBusyTimeout(milliseconds: RowQueries.busyMilliseconds)
            try connection.execute("PRAGMA cache_size = -\(RowQueries.cacheKiB)")
            return (
                connection, try connection.prepare(SQLiteSchema.selectRows),
                try connection.prepare(SQLiteSchema.selectRowBefore)
            )
        }
    }

    /// Opens `path`, which may be any file: throws `unusable` where it is empty, another program's or a newer
    /// timerd's.
    static func openChecked(_ path: String) throws(StoreError) -> RowQueries {
        do {
            let connection = try SQLiteSchema.attempt("opening \(path)") { () throws(SQLiteFailure) in
                try SQLiteConnection(path: path, .readOnly)
            }
            guard try SQLiteSchema.recognise(connection, path: path) else {
                throw StoreError(.unusable, "\(path) is empty")
            }
        }
        return try RowQueries(path: path)
    }

    /// Fetches rows whose `first` is at least `first`, in order, in one read transaction: at most `limit` of them,
    /// and none when there are none. Replaces `batch`, whose storage is used again.
    func fetch(
        from first: Int64, limit: Int = StoreLimits.rowsARead, into batch: inout [LogRow]
    ) throws(StoreError) {
        var count = 0
        try SQLiteSchema.attempt("reading the rows from position \(first)") { () throws(SQLiteFailure) in
            defer { rows.reset() }
            try rows.bind(1, first)
            var bytes = 0
            while count < limit, bytes < RowQueries.bytesPerRead, try rows.step() {
                if count == batch.count { batch.append(LogRow(first: 0, last: 0, previous: 0, data: [])) }
                try RowQueries.read(rows, into: &batch[count])
                bytes += batch[count].data.count
                count += 1
            }
        }
        batch.removeSubrange(count...)
    }

    /// Returns the last row that starts at or before `position`, or nil.
    func row(before position: Int64) throws(StoreError) -> LogRow? {
        try SQLiteSchema.attempt("reading the row at position \(position)") { () throws(SQLiteFailure) in
            defer { rowBefore.reset() }
            try rowBefore.bind(1, position)
            guard try rowBefore.step() else { return nil }
            var row = LogRow(first: 0, last: 0, previous: 0, data: [])
            try RowQueries.read(rowBefore, into: &row)
            return row
        }
    }

    /// Returns the position of the last record, 0 when there is none.
    func head() throws(StoreError) -> Int64 {
        try SQLiteSchema.attempt("reading the head") { () throws(SQLiteFailure) in
            try connection.integer("SELECT last FROM log ORDER BY first DESC LIMIT 1")
        }
    }

    /// Fetches the oldest rows and returns the head, both as they are at one instant.
    func oldestRows(into batch: inout [LogRow]) throws(StoreError) -> Int64 {
        let activity = "reading the oldest rows"
        try SQLiteSchema.attempt(activity) { () throws(SQLiteFailure) in try connection.execute("BEGIN") }
        defer { try? connection.execute("ROLLBACK") }
        try fetch(from: .min, into: &batch)
        return try head()
    }

    private static func read(_ statement: SQLiteStatement, into row: inout LogRow) throws(SQLiteFailure) {
        row.first = statement.integer(0)
        row.last = statement.integer(1)
        row.previous = statement.integer(2)
        row.epoch = statement.integer(3)
        try statement.readBlob(4, into: &row.data)
    }
}
