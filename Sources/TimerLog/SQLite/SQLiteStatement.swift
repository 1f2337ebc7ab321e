internal import CSQLite

/// A compiled statement. Used by the thread that uses its connection, which it keeps alive.
@safe final class SQLiteStatement {
    private let handle: OpaquePointer
    private let connection: SQLiteConnection

    /// Takes over `handle`, which is finalised with the object.
    init(_ handle: OpaquePointer, of connection: SQLiteConnection) {
        unsafe self.handle = handle
        self.connection = connection
    }

    deinit { unsafe sqlite3_finalize(handle) }

    /// Sets parameter `index`, from 1.
    func bind(_ index: Int32, _ value: Int64) throws(SQLiteFailure) {
        try connection.check(unsafe sqlite3_bind_int64(handle, index, value))
    }

    /// Moves to the next row. Returns false when there is none; the statement is then ready to run again.
    func step() throws(SQLiteFailure) -> Bool {
        let code = unsafe sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        let failure = code == SQLITE_DONE ? nil : connection.failure(code)
        reset()
        if let failure { throw failure }
        return false
    }

    /// Runs to the end and drops the rows.
    func run() throws(SQLiteFailure) {
        while try step() {}
    }

    /// Runs to the end with `bytes` as parameter `index`, which SQLite reads in place.
    func run(blob bytes: [UInt8], at index: Int32) throws(SQLiteFailure) {
        defer { unsafe sqlite3_bind_null(handle, index) }
        try unsafe bytes.span.withUnsafeBytes { buffer throws(SQLiteFailure) in
            // A nil destructor is SQLITE_STATIC: the bytes outlive the run, and the binding ends with it.
            let count = UInt64(buffer.count)
            try connection.check(unsafe sqlite3_bind_blob64(handle, index, buffer.baseAddress, count, nil))
            try run()
        }
    }

    /// Ends the run, and with it the read transaction it may have held.
    func reset() {
        unsafe sqlite3_reset(handle)
    }

    /// Returns column `column`, from 0, of the current row.
    func integer(_ column: Int32) -> Int64 {
        unsafe sqlite3_column_int64(handle, column)
    }

    /// Returns column `column` of the current row as text; empty when it is null.
    func text(_ column: Int32) -> String {
        unsafe sqlite3_column_text(handle, column).map { unsafe String(cString: $0) } ?? ""
    }

    /// Replaces `bytes` by column `column` of the current row; storage that nobody else holds is used again.
    func readBlob(_ column: Int32, into bytes: inout [UInt8]) throws(SQLiteFailure) {
        bytes.removeAll(keepingCapacity: true)
        let start = unsafe sqlite3_column_blob(handle, column)
        let count = unsafe Int(sqlite3_column_bytes(handle, column))
        guard count > 0 else { return }
        guard let start = unsafe start else {
            throw SQLiteFailure(code: SQLITE_NOMEM, message: "out of memory", systemError: 0)
        }
        unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(start: start, count: count))
    }
}
