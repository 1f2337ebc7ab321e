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

    /// Copies pages from the WAL into the database.
    func checkpoint(_ mode: Checkpoint) throws(SQLiteFailure) {
        let raw =
            switch mode {
            case .passive: SQLITE_CHECKPOINT_PASSIVE
            case .restart: SQLITE_CHECKPOINT_RESTART
            case .truncate: SQLITE_CHECKPOINT_TRUNCATE
            }
        try check(unsafe sqlite3_wal_checkpoint_v2(handle, nil, raw, nil, nil))
        if mode != .passive { unsafe pagesInWAL.pointee = 0 }
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
