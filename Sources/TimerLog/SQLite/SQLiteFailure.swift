internal import CSQLite

/// An error that SQLite answered.
struct SQLiteFailure: Error {
    /// The extended result code.
    let code: Int32
    /// SQLite's own words.
    let message: String
    /// The errno of a failed open, else 0.
    let systemError: Int32

    private var primary: Int32 { code & 0xff }

    /// Another connection's lock was in the way.
    var isBusy: Bool { primary == SQLITE_BUSY }
    /// A row of this key is there.
    var isDuplicate: Bool { primary == SQLITE_CONSTRAINT }

    /// The failure as the log's callers act on it; `activity` completes "while …".
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
