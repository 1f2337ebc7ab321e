internal import Platform

/// The one connection that writes the log, from an open to the next. Used by one thread at a time.
final class LogWriter {
    /// The most bytes of dirty pages that stay in memory: a page that is written before the commit and again in it
    /// costs twice. SQLite takes a multiple of 256 pages for "never".
    private static let bytesBeforeSpill = 32_768_000
    /// The most bytes of clean pages that stay in memory: a commit touches few that the one before did not.
    private static let bytesCached = 1 << 20
    /// The size to which SQLite cuts a WAL that starts over. It is above the bounds at which one does, so that the file is
    /// used again as it is: a sync of blocks that are there already is cheaper.
    private static let walLimitBytes = 80 << 20
    /// The bytes of a full WAL that an append may have to copy.
    private static let restBytes = 256 << 10
    /// How long an append waits for readers before it postpones a restart of the WAL that can't wait.
    private static let restartWaitMilliseconds: Int32 = 100
    /// The bytes of free pages that the file may keep beyond a fifth of those in use.
    private static let freeBytesKept = 16 << 20
    /// The most bytes that one delete gives back to the file system, in a commit of their own; more than a delete
    /// frees.
    private static let bytesAVacuum = 6 << 20

    private static let checkpointing = "checkpointing the log"

    /// The head of the log.
    private(set) var head: StoreHead
    private let tuning: SQLiteLogStore.Tuning
    private let connection: SQLiteConnection
    private let begin: SQLiteStatement
    private let insert: SQLiteStatement
    private let commit: SQLiteStatement
    private let checkpointer: Checkpointer
    private let directory: DataDirectory
    /// The database and its WAL as they were when they were opened.
    private let files: [(path: String, identity: FileIdentity?)]
    /// The bytes of a page of this file, which an earlier version may have made.
    private let pageBytes: Int
    /// The length from which on the WAL starts over as soon as nearly all of it is copied.
    private var restartPages: Int
    /// The length from which on it starts over whatever is left to copy.
    private var mostPages: Int
    private var failure: StoreError?

    /// The outcome of a transaction.
    private enum Ending {
        case committed
        case rolledBack(SQLiteFailure)
        case unknown(SQLiteFailure)
    }

    /// Opens the database, makes the tables where there are none, copies what the last writer left in the WAL into
    /// the database, and verifies the newest rows.
    ///
    /// - Parameter known: the head when this process last had the log open; any other log is refused, and so is an
    ///   older state of this one.
    init(
        _ directory: DataDirectory, _ tuning: SQLiteLogStore.Tuning, continuing known: StoreHead? = nil
    ) throws(StoreError) {
        let path = directory.database
        try WALIndex.forgetCopies(of: path, waitingMilliseconds: tuning.busyMilliseconds)
        let (connection, pageBytes) = try LogWriter.connect(path, tuning, mayCreate: known == nil)
        self.pageBytes = pageBytes
        (begin, insert, commit) = try SQLiteSchema.attempt("preparing to write \(path)") { () throws(SQLiteFailure) in
            (
                try connection.prepare("BEGIN IMMEDIATE"), try connection.prepare(SQLiteSchema.insertRow),
                try connection.prepare("COMMIT")
            )
        }
        // Everything that is found from here on is in the database file, synced: no later recovery can find less or
        // more.
        try SQLiteSchema.attempt("checkpointing \(path)") { () throws(SQLiteFailure) in
            _ = try connection.checkpoint(.truncate)
        }
        let meta = try SQLiteSchema.meta(connection)
        head = StoreHead(
            epoch: meta.epoch, last: try LogWriter.verifyNewest(connection), secret: meta.secret,
            branchedAt: meta.branchedAt)
        if let known, known.secret != head.secret || known.last > head.last { throw directory.missingError(path) }
        files = [path, directory.wal].map { ($0, FileIdentity($0)) }
        self.directory = directory
        self.connection = connection
        self.tuning = tuning
        restartPages = tuning.restartBytes / pageBytes
        mostPages = tuning.mostBytes / pageBytes
        let pace = Checkpointer.Pace(interval: tuning.passiveBytes / pageBytes, rest: Self.restBytes / pageBytes)
        checkpointer = Checkpointer(pace) {
            () throws(SQLiteFailure) in
            let connection = try SQLiteConnection(path: path, .readWrite, vfs: tuning.vfs)
            // A connection that has read nothing yet does not know of the WAL: its checkpoints would do nothing.
            _ = try connection.integer("PRAGMA user_version")
            return connection
        }
    }

    /// Ends the thread that checkpoints. To be called once, before the writer is released.
    func end() {
        checkpointer.end()
        // Until a sync has failed, what counts as copied is synced by the last checkpoint.
        connection.keepWALOnClose(checkpointer.failedSync != nil)
    }

    /// Whether this writer has told of a failure, and pages of the database may be lost.
    var hasLostPages: Bool { failure != nil && checkpointer.failedSync != nil }

    /// See `SQLiteLogStore.append`.
    func append(_ rows: [LogRow], expecting: Int64, epoch: Int64) -> AppendOutcome {
        if let failure { return .absent(failure) }
        if let refusal = AppendRules.refusal(rows, expecting: expecting, epoch: epoch, head: head) { return refusal }
        guard let first = rows.first?.first, let last = rows.last?.last else { return .durable }
        // A writer that has failed must be opened again, which an absent append does not ask for.
        if let error = restartWAL() { return failure == nil ? .absent(error) : .unknown(error) }
        let ending = transaction { () throws(SQLiteFailure) in
            for row in rows { try SQLiteSchema.insert(row, insert) }
            if head.branchedAt != nil { try connection.execute(SQLiteSchema.unbranch) }
        }
        switch ending {
        case .committed:
            // A commit into files that the next start does not find is not durable.
            if let gone = files.first(where: { FileIdentity($0.path) != $0.identity }) {
                let error = directory.missingError(gone.path)
                failure = error
                return .unknown(error)
            }
            head.last = last
            head.branchedAt = nil
            return .durable
        case .rolledBack(let error) where error.isDuplicate:
            return .diverged(error.storeError("writing positions \(first)…\(last)"))
        case .rolledBack(let error):
            return .absent(error.storeError("writing positions \(first)…\(last)"))
        case .unknown(let error):
            return .unknown(fail(error, "committing positions \(first)…\(last)"))
        }
    }

    /// See `SQLiteLogStore.delete`.
    func delete(upTo position: Int64) throws(StoreError) -> Int {
        if let failure { throw failure }
        let activity = "deleting rows up to position \(position)"
        if let error = restartWAL() { throw error }
        let (bytes, edge) = try SQLiteSchema.attempt(activity) { () throws(SQLiteFailure) in
            try oldestRows(upTo: position)
        }
        guard let edge else { return 0 }
        try finish(
            transaction { () throws(SQLiteFailure) in
                let delete = try connection.prepare("DELETE FROM log WHERE first <= ?1")
                try delete.bind(1, edge)
                try delete.run()
            }, activity)
        try shrink()
        return bytes
    }

    /// See `SQLiteLogStore.replace`.
    func replace(with rows: [LogRow]) throws(StoreError) {
        if let failure { throw failure }
        guard let first = rows.first?.first, let last = rows.last?.last else { return }
        let activity = "condensing rows from position \(first) to \(last)"
        if let error = restartWAL() { throw error }
        try finish(
            transaction { () throws(SQLiteFailure) in
                let delete = try connection.prepare("DELETE FROM log WHERE first BETWEEN ?1 AND ?2")
                for row in rows {
                    try delete.bind(1, row.first)
                    try delete.bind(2, row.last)
                    try delete.run()
                    try SQLiteSchema.insert(row, insert)
                }
            }, activity)
        try shrink()
    }

    /// Returns the rows that one delete removes: their bytes, and `first` of the last of them, nil for none.
    private func oldestRows(upTo position: Int64) throws(SQLiteFailure) -> (bytes: Int, edge: Int64?) {
        let oldest = try connection.prepare("SELECT first, last, length(data) FROM log ORDER BY first")
        var bytes = 0
        var edge: Int64?
        while try oldest.step() {
            let last = oldest.integer(1)
            let size = Int(oldest.integer(2))
            guard last <= position, last != head.last else { break }
            guard edge == nil || bytes + size <= StoreLimits.bytesADelete else { break }
            bytes += size
            edge = oldest.integer(0)
        }
        return (bytes, edge)
    }

    /// Gives free pages back to the file system once there are many: the file stays near the size of what it holds,
    /// and steady use moves no pages.
    private func shrink() throws(StoreError) {
        let activity = "shrinking the database"
        let (all, free) = try SQLiteSchema.attempt(activity) { () throws(SQLiteFailure) in
            (
                try Int(connection.integer("PRAGMA page_count")), try Int(connection.integer("PRAGMA freelist_count"))
            )
        }
        let excess = free - (all - free) / 5 - LogWriter.freeBytesKept / pageBytes
        guard excess > 0 else { return }
        try finish(
            transaction { () throws(SQLiteFailure) in
                let pages = min(excess, LogWriter.bytesAVacuum / pageBytes)
                try connection.prepare("PRAGMA incremental_vacuum(\(pages))").run()
            }, activity)
    }

    private func transaction(_ body: () throws(SQLiteFailure) -> Void) -> Ending {
        do throws(SQLiteFailure) {
            try begin.run()
            try body()
        } catch {
            // Some failures have rolled back already.
            if connection.inTransaction { try? connection.execute("ROLLBACK") }
            return connection.inTransaction ? .unknown(error) : .rolledBack(error)
        }
        do throws(SQLiteFailure) {
            try commit.run()
        } catch {
            // The commit may be in the WAL, whole and valid, though this connection does not see it.
            if connection.inTransaction { try? connection.execute("ROLLBACK") }
            return .unknown(error)
        }
        checkpointer.note(pages: connection.walPages, isFull: connection.walPages >= restartPages)
        return .committed
    }

    private func finish(_ ending: Ending, _ activity: String) throws(StoreError) {
        switch ending {
        case .committed: return
        case .rolledBack(let error): throw error.storeError(activity)
        case .unknown(let error): throw fail(error, activity)
        }
    }

    /// Stops this writer, which writes nothing more. Returns the error to report now.
    private func fail(_ error: SQLiteFailure, _ activity: String) -> StoreError {
        let error = error.storeError(activity)
        failure = StoreError(error.kind, "the log must be opened again after: \(error)")
        return error
    }

    /// Copies what is left of a WAL that is full, so that the next commit starts it over. Readers that prevent it postpone
    /// it until the WAL has grown by as much again; another failure is returned. A sync of the database that failed, here
    /// or on the checkpointer's thread, stops this writer.
    private func restartWAL() -> StoreError? {
        if let error = checkpointer.failedSync { return fail(error, LogWriter.checkpointing) }
        let pages = connection.walPages
        let isPressing = pages >= mostPages
        guard isPressing || (pages >= restartPages && checkpointer.hasNearlyCopied) else { return nil }
        connection.setBusyTimeout(milliseconds: isPressing ? LogWriter.restartWaitMilliseconds : 0)
        defer { connection.setBusyTimeout(milliseconds: tuning.busyMilliseconds) }
        let (restart, most) = (tuning.restartBytes / pageBytes, tuning.mostBytes / pageBytes)
        do throws(SQLiteFailure) {
            try checkpointer.alone { () throws(SQLiteFailure) in try connection.checkpoint(.restart) }
            (restartPages, mostPages) = (restart, most)
        } catch {
            if error.isFailedSync { return fail(error, LogWriter.checkpointing) }
            guard error.isBusy else { return error.storeError(LogWriter.checkpointing) }
            restartPages = pages + restart
            if isPressing { mostPages = pages + most }
        }
        return nil
    }

    private static func connect(
        _ path: String, _ tuning: SQLiteLogStore.Tuning, mayCreate: Bool
    ) throws(StoreError) -> (SQLiteConnection, pageBytes: Int) {
        let activity = "opening \(path)"
        let connection = try SQLiteSchema.attempt(activity) { () throws(SQLiteFailure) in
            let connection = try SQLiteConnection(path: path, .readWrite, vfs: tuning.vfs)
            connection.setBusyTimeout(milliseconds: tuning.busyMilliseconds)
            connection.keepWALOnClose(true)
            return connection
        }
        let isOurs = try SQLiteSchema.recognise(connection, path: path)
        guard isOurs || mayCreate else { throw StoreError(.unusable, "\(path) is empty, and was not") }
        let meta = isOurs ? nil : SQLiteSchema.Meta.fresh()
        let (mode, pageBytes) = try SQLiteSchema.attempt(activity) { () throws(SQLiteFailure) in
            if !isOurs { try connection.execute(SQLiteSchema.fileSettings) }
            let mode = try connection.text("PRAGMA journal_mode = WAL")
            let pageBytes = try Int(connection.integer("PRAGMA page_size"))
            try connection.execute(
                """
                PRAGMA synchronous = FULL; PRAGMA locking_mode = NORMAL; PRAGMA secure_delete = OFF;
                PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = \(walLimitBytes);
                PRAGMA cache_spill = \(bytesBeforeSpill / pageBytes); PRAGMA cache_size = \(bytesCached / pageBytes)
                """)
            if let limit = tuning.pageLimit { try connection.execute("PRAGMA max_page_count = \(limit)") }
            connection.countWAL()
            if let meta { try SQLiteSchema.create(connection, meta) }
            return (mode, pageBytes)
        }
        guard mode == "wal" else {
            throw StoreError(.unusable, "\(path) can't have a write-ahead log on this file system")
        }
        return (connection, pageBytes)
    }

    /// Verifies the chain of the newest rows, which is cheap; the fold verifies the whole. Returns the head.
    private static func verifyNewest(_ connection: SQLiteConnection) throws(StoreError) -> Int64 {
        let rows = try SQLiteSchema.attempt("reading the newest rows") { () throws(SQLiteFailure) in
            let newest = try connection.prepare(
                """
                SELECT * FROM (SELECT first, last, previous, length(data) FROM log ORDER BY first DESC
                LIMIT \(SQLiteLogStore.rowsVerifiedAtOpen)) ORDER BY first
                """)
            var rows: [(first: Int64, last: Int64, previous: Int64, bytes: Int)] = []
            while try newest.step() {
                rows.append((newest.integer(0), newest.integer(1), newest.integer(2), Int(newest.integer(3))))
            }
            return rows
        }
        var verifier = ChainVerifier()
        for row in rows {
            try verifier.check(first: row.first, last: row.last, previous: row.previous, byteCount: row.bytes)
        }
        return verifier.last ?? 0
    }
}
