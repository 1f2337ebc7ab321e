internal import CSQLite

/// One connection to a database. Used by one thread at a time; closed when the last statement and owner release it.
@safe final class SQLiteConnection {
    /// The access of a connection to the file.
    enum Access {
        /// The file exists and may be written.
        case readWrite
        /// The file exists and is only read.
        case readOnly
    }

    /// The extent of a checkpoint.
    enum Checkpoint {
        /// The pages that can be copied without waiting for other connections.
        case passive
        /// All pages; the next commit writes at the start of the WAL.
        case restart
        /// All pages, and the WAL is cut to nothing.
        case truncate
    }

    private let handle: OpaquePointer
    private let pagesInWAL: UnsafeMutablePointer<Int32>

    /// Pages in the WAL after the last commit of this connection, once `countWAL` was called.
    var walPages: Int { unsafe Int(pagesInWAL.pointee) }
    /// Whether a transaction is under way.
    var inTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

    /// Opens `path`, which must exist. `vfs` names another VFS of SQLite than the default (tests inject faults
    /// there).
    init(path: String, _ access: Access, vfs: String? = nil) throws(SQLiteFailure) {
        var opened: OpaquePointer?
        let mode = access == .readWrite ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY
        // SQLite may take a name that starts with "file:" for a URI.
        let name = path.hasPrefix("/") ? path : "./" + path
        let code = unsafe sqlite3_open_v2(name, &opened, mode | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, vfs)
        guard code == SQLITE_OK, let connection = unsafe opened else {
            let failure = unsafe SQLiteConnection.failure(code, opened)
            unsafe sqlite3_close(opened)
            throw failure
        }
        unsafe handle = connection
        unsafe pagesInWAL = .allocate(capacity: 1)
        unsafe pagesInWAL.initialize(to: 0)
    }

    deinit {
        let code = unsafe sqlite3_close(handle)
        precondition(code == SQLITE_OK, "statements keep their connection, so none is left when it closes")
        unsafe pagesInWAL.deallocate()
    }

    /// Sets how long a call waits for another connection's lock before it fails with `SQLITE_BUSY`.
    func setBusyTimeout(milliseconds: Int32) {
        unsafe sqlite3_busy_timeout(handle, milliseconds)
    }

    /// Keeps `walPages` current from now on. To be called after `PRAGMA wal_autocheckpoint`, which uses the same hook.
    func countWAL() {
        unsafe sqlite3_wal_hook(
            handle,
            { counter, _, _, pages in
                unsafe counter?.assumingMemoryBound(to: Int32.self).pointee = pages
                return SQLITE_OK
            }, pagesInWAL)
    }

    /// Runs `sql`, any number of statements, and drops their rows.
    func execute(_ sql: String) throws(SQLiteFailure) {
        try check(unsafe sqlite3_exec(handle, sql, nil, nil, nil))
    }

    /// Returns the integer in the first column of the first row of `sql`; 0 when there is no row.
    func integer(_ sql: String) throws(SQLiteFailure) -> Int64 {
        let statement = try prepare(sql)
        return try statement.step() ? statement.integer(0) : 0
    }

    /// Returns the text in the first column of the first row of `sql`; empty when there is no row.
    func text(_ sql: String) throws(SQLiteFailure) -> String {
        let statement = try prepare(sql)
        return try statement.step() ? statement.text(0) : ""
    }

    /// Compiles one statement, to be used many times.
    func prepare(_ sql: String) throws(SQLiteFailure) -> SQLiteStatement {
        var made: OpaquePointer?
        let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
        try check(unsafe sqlite3_prepare_v3(handle, sql, -1, flags, &made, nil))
        guard let statement = unsafe made else {
            throw SQLiteFailure(code: SQLITE_MISUSE, message: "empty statement", systemError: 0)
        }
        return unsafe SQLiteStatement(statement, of: self)
    }

    /// Copies pages from the WAL into the database. Returns how many of its pages are copied in all.
    @discardableResult
    func checkpoint(_ mode: Checkpoint) throws(SQLiteFailure) -> Int {
        let raw =
            switch mode {
            case .passive: SQLITE_CHECKPOINT_PASSIVE
            case .restart: SQLITE_CHECKPOINT_RESTART
            case .truncate: SQLITE_CHECKPOINT_TRUNCATE
            }
        var copied: Int32 = 0
        try check(unsafe sqlite3_wal_checkpoint_v2(handle, nil, raw, nil, &copied))
        if mode != .passive { unsafe pagesInWAL.pointee = 0 }
        return Int(copied)
    }

    /// Syncs the database's file. A checkpoint does so only where it has copied the whole WAL, which it seldom has while
    /// others commit; what is left to write grows until then.
    func syncDatabase() throws(SQLiteFailure) {
        var file: UnsafeMutablePointer<sqlite3_file>?
        try check(unsafe sqlite3_file_control(handle, nil, SQLITE_FCNTL_FILE_POINTER, &file))
        guard let file = unsafe file, let sync = unsafe file.pointee.pMethods?.pointee.xSync else { return }
        let code = unsafe sync(file, SQLITE_SYNC_NORMAL)
        // The connection does not know of this call, so it has no message.
        guard code == SQLITE_OK else { throw unsafe SQLiteConnection.failure(code, nil) }
    }

    /// Sets whether the close of this connection leaves the WAL as it is. Else the last one copies the rest of it, and
    /// deletes it.
    func keepWALOnClose(_ keeps: Bool) {
        let code = unsafe csqlite_keep_wal_on_close(handle, keeps ? 1 : 0)
        precondition(code == SQLITE_OK, "SQLite knows the setting")
    }

    /// Throws the failure that `code` stands for, unless it is `SQLITE_OK`.
    func check(_ code: Int32) throws(SQLiteFailure) {
        guard code == SQLITE_OK else { throw failure(code) }
    }

    /// Returns the failure of the last call on this connection, whose result is `code`.
    func failure(_ code: Int32) -> SQLiteFailure {
        unsafe SQLiteConnection.failure(code, handle)
    }

    private static func failure(_ code: Int32, _ handle: OpaquePointer?) -> SQLiteFailure {
        let text = unsafe handle == nil ? sqlite3_errstr(code) : sqlite3_errmsg(handle)
        let isOpenFailure = code & 0xff == SQLITE_CANTOPEN
        let systemError = unsafe isOpenFailure && handle != nil ? sqlite3_system_errno(handle) : 0
        let message = unsafe text.map { unsafe String(cString: $0) } ?? "unknown error"
        return SQLiteFailure(code: code, message: message, systemError: systemError)
    }
}

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

/// An error that SQLite returned.
struct SQLiteFailure: Error {
    /// The extended result code.
    let code: Int32
    /// SQLite's own message.
    let message: String
    /// The errno of a failed open, else 0.
    let systemError: Int32

    private var primary: Int32 { code & 0xff }

    /// Whether another connection's lock prevented the call.
    var isBusy: Bool { primary == SQLITE_BUSY }
    /// Whether a file could not be synced: what was written to it since the last sync may never reach the disk, though
    /// later syncs succeed.
    var isFailedSync: Bool { code == csqlite_failed_sync }
    /// Whether a row of this key exists already.
    var isDuplicate: Bool { primary == SQLITE_CONSTRAINT }

    /// Returns the failure as the log's error; `activity` completes "while …".
    func storeError(_ activity: String) -> StoreError {
        let name = unsafe String(cString: csqlite_code_name(code))
        let cause = systemError == 0 ? "" : ", errno \(systemError)"
        return StoreError(kind, "\(message) (\(name)\(cause)) while \(activity)")
    }

    private var kind: StoreError.Kind {
        switch primary {
        case SQLITE_FULL: .full
        case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged
        case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_READONLY, SQLITE_AUTH: .unusable
        default: .io
        }
    }
}
