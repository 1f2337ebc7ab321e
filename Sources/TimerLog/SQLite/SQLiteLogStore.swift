internal import Platform

/// The log in a SQLite database, `timers.db` in the data directory: each append is one transaction of blob rows.
///
/// The database is in WAL mode with `synchronous=FULL`, so a commit is one write and one sync of the WAL. A reader
/// holds a read transaction for about a MiB of rows at a time and never while its caller works on them.
public final class SQLiteLogStore: LogStore, @unchecked Sendable {  // unchecked: what changes is touched under `calls`
    /// The rows that `open` verifies at the end of the log.
    static let rowsVerifiedAtOpen = 64
    private let directory: DataDirectory
    private let tuning: Tuning
    private let gate = ReaderGate()
    /// The lock that is held for the length of a call that uses the writer.
    private let calls = Lock()
    private var directoryLock: DirectoryLock?
    private var writer: LogWriter?
    /// The head of the log when it was last open; nil before the first open and after `close`.
    private var known: StoreHead?

    /// Makes a closed store in `directory`, which `open` makes where it is missing (its parent must be there).
    public convenience init(directory: String) {
        self.init(directory: directory, tuning: Tuning())
    }

    init(directory: String, tuning: Tuning) {
        self.directory = DataDirectory(path: directory)
        self.tuning = tuning
    }

    deinit { closeConnections() }

    /// Makes the directory where it is missing and takes its `DirectoryLock` ahead of the first `open`, to be held
    /// until `close`.
    public func claim() throws(StoreError) {
        calls.lock()
        defer { calls.unlock() }
        try takeDirectory()
    }

    /// Opens the log, or opens it again. The first open takes the `DirectoryLock`, which is held until `close`, and
    /// makes what is missing. Later ones make nothing, and throw where they do not find the log that was open
    /// before.
    public func open() throws(StoreError) -> StoreHead {
        calls.lock()
        defer { calls.unlock() }
        closeConnections()
        try takeDirectory()
        if known == nil { try directory.createDatabase() }
        let opened = try LogWriter(directory, tuning, continuing: known)
        writer = opened
        gate.allow()
        return opened.head
    }

    /// Writes `rows` in one transaction.
    ///
    /// A failure before the commit that rolls back is `absent`; one in the commit, or a sync of the database that has
    /// failed, is `unknown`, and every append after it is `absent` until the store is opened again.
    public func append(_ rows: [LogRow], expecting: Int64, epoch: Int64) -> AppendOutcome {
        calls.withLock {
            defer { closeLost() }
            return writer?.append(rows, expecting: expecting, epoch: epoch) ?? .absent(Self.notOpen)
        }
    }

    /// Removes rows as `LogStore.delete` says; the newest row always stays, since it marks the log's end. Gives
    /// free pages back to the file system, a bounded number a call. After a throw the log must be opened again.
    public func delete(upTo position: Int64) throws(StoreError) -> Int {
        calls.lock()
        defer {
            closeLost()
            calls.unlock()
        }
        guard let writer else { throw Self.notOpen }
        return try writer.delete(upTo: position)
    }

    /// Replaces rows as `LogStore.replace` says.
    public func replace(with rows: [LogRow]) throws(StoreError) {
        calls.lock()
        defer {
            closeLost()
            calls.unlock()
        }
        guard let writer else { throw Self.notOpen }
        try writer.replace(with: rows)
    }

    /// Makes a reader, which opens its connection when it is first used and again after `open`; between a `close`
    /// or a failed `open` and the next one its reads throw `io`.
    public func makeReader() throws(StoreError) -> any LogReader {
        gate.makeReader { [directory, tuning] () throws(StoreError) in
            try RowQueries(path: directory.database, vfs: tuning.vfs)
        }
    }

    /// Opens a reader of the log in `directory` that takes no lock and works beside a running server. Throws
    /// `unusable` when there is no log.
    public static func openReader(directory: String) throws(StoreError) -> any LogReader {
        let path = DataDirectory(path: directory).database
        if DataDirectory(path: directory).lacksDatabase {
            throw StoreError(.unusable, "there is no log in \(directory)")
        }
        let gate = ReaderGate()
        gate.allow()
        _ = try RowQueries.openChecked(path)
        return gate.makeReader { () throws(StoreError) in try RowQueries(path: path) }
    }

    /// Returns the bytes of the database and its WAL.
    public func bytesOnDisk() -> Int {
        directory.size(directory.database) + directory.size(directory.wal)
    }

    /// Closes every connection and releases the directory.
    public func close() {
        calls.withLock {
            closeConnections()
            directoryLock = nil
            known = nil
        }
    }

    /// Takes the directory's lock or, where it is held, verifies that the lock file is still the one that is
    /// locked.
    private func takeDirectory() throws(StoreError) {
        if let directoryLock {
            guard directoryLock.holds(directory) else { throw directory.missingError(directory.lock) }
        } else {
            try directory.create()
            directoryLock = try DirectoryLock(directory: directory.path)
        }
    }

    private func closeConnections() {
        gate.closeAll()
        if let writer { known = writer.head }
        writer?.end()
        writer = nil
    }

    /// Closes every connection once pages of the database may be lost, so that nobody reads what stood there before. The
    /// WAL has them all, and the next open copies it.
    private func closeLost() {
        if writer?.hasLostPages ?? false { closeConnections() }
    }

    private static var notOpen: StoreError { StoreError(.io, "the log is not open") }
}

extension SQLiteLogStore {
    /// The bounds of a store, which tests make smaller or worse.
    struct Tuning: Sendable {
        /// The bytes that the WAL grows between two passive checkpoints.
        var passiveBytes = 4 << 20
        /// The bytes of WAL from which on it starts over as soon as nearly all of it is copied.
        var restartBytes = 16 << 20
        /// The bytes of WAL at which an append first copies all that is left, so that the WAL starts over.
        var mostBytes = 64 << 20
        /// How long a call waits for a lock held elsewhere (by an operator's shell).
        var busyMilliseconds: Int32 = 5000
        /// The most pages of the database file; nil for SQLite's own bound.
        var pageLimit: Int?
        /// The VFS by which SQLite reaches the file system; nil for the default.
        var vfs: String?
    }
}
