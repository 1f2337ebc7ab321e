internal import CSQLite

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
