/// The content of the database file: how it is made, and how a file is recognised.
enum SQLiteSchema {
    /// The `application_id` of a log's file: "tmrd".
    static let applicationID: Int64 = 0x746d_7264
    /// The version of the tables, in `user_version`. A file with a greater one was written by a newer timerd.
    static let version: Int64 = 1
    /// The bytes of a page in files that timerd makes. A commit writes each page that it touches whole, and a client that is
    /// alone touches one or two.
    static let pageBytes = 4096

    private static let selectColumns = "SELECT first, last, previous, epoch"
    /// The query for the rows from parameter 1 on.
    static let selectRows = "\(selectColumns), data FROM log WHERE first >= ?1 ORDER BY first"
    /// The query for the last row that starts at or before parameter 1.
    static let selectRowBefore = "\(selectColumns), data FROM log WHERE first <= ?1 ORDER BY first DESC LIMIT 1"
    /// The statement that adds a row.
    static let insertRow = """
        INSERT INTO log(first, last, previous, partition, epoch, data) VALUES (?1, ?2, ?3, 0, ?4, ?5)
        """

    /// Settings that must precede the first table: the page size, and free pages that can be given back.
    static let fileSettings = "PRAGMA page_size = \(pageBytes); PRAGMA auto_vacuum = INCREMENTAL"

    /// The column `partition` is always 0: earlier versions had a use for it.
    private static let tables = """
        CREATE TABLE log(
            first INTEGER PRIMARY KEY,
            last INTEGER NOT NULL,
            previous INTEGER NOT NULL,
            partition INTEGER NOT NULL,
            epoch INTEGER NOT NULL,
            data BLOB NOT NULL
        ) STRICT;
        CREATE TABLE meta(key TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;
        PRAGMA application_id = \(applicationID);
        PRAGMA user_version = \(version)
        """

    /// The content of the table `meta`.
    struct Meta: Equatable {
        /// The log's secret.
        var secret: [UInt8]
        /// The writer's epoch.
        var epoch: Int64
        /// Wall milliseconds at which the log was copied, or its end cut, while nothing was appended since.
        var branchedAt: Int64?

        /// Makes the meta of a new log.
        static func fresh() -> Meta { Meta(secret: LogSecret.fresh(), epoch: 0) }
    }

    /// Returns true for a log's file, and false for one with nothing in it. Throws `unusable` for another program's
    /// file, or a newer timerd's.
    static func recognise(_ connection: SQLiteConnection, path: String) throws(StoreError) -> Bool {
        let (identity, version, tables) = try attempt("reading \(path)") { () throws(SQLiteFailure) in
            (
                try connection.integer("PRAGMA application_id"), try connection.integer("PRAGMA user_version"),
                try connection.integer("SELECT count(*) FROM sqlite_master")
            )
        }
        if identity == 0 && version == 0 && tables == 0 { return false }
        guard identity == applicationID else {
            throw StoreError(.unusable, "\(path) is a database of another program")
        }
        guard version <= self.version else {
            throw StoreError(
                .unusable, "\(path) has format \(version), written by a newer timerd; this one reads \(self.version)")
        }
        return true
    }

    /// Makes the tables in one transaction.
    static func create(_ connection: SQLiteConnection, _ meta: Meta) throws(SQLiteFailure) {
        try connection.execute("BEGIN IMMEDIATE; \(tables)")
        let insert = try connection.prepare("INSERT INTO meta(key, value) VALUES ('epoch', ?1), ('secret', ?2)")
        try insert.bind(1, meta.epoch)
        try insert.run(blob: meta.secret, at: 2)
        if let instant = meta.branchedAt { try branch(connection, at: instant) }
        try connection.execute("COMMIT")
    }

    /// Notes that another server may have gone on from this state of the log.
    static func branch(_ connection: SQLiteConnection, at wall: Int64) throws(SQLiteFailure) {
        let insert = try connection.prepare("INSERT OR REPLACE INTO meta(key, value) VALUES ('branched', ?1)")
        try insert.bind(1, wall)
        try insert.run()
    }

    /// The statement that removes that note, in the transaction of the first append.
    static let unbranch = "DELETE FROM meta WHERE key = 'branched'"

    /// Reads the table `meta`.
    static func meta(_ connection: SQLiteConnection) throws(StoreError) -> Meta {
        let (secret, epoch, branchedAt) = try attempt("reading the table meta") { () throws(SQLiteFailure) in
            let select = try connection.prepare("SELECT value FROM meta WHERE key = 'secret'")
            var secret: [UInt8] = []
            if try select.step() { try select.readBlob(0, into: &secret) }
            let branch = try connection.prepare("SELECT value FROM meta WHERE key = 'branched'")
            let branchedAt = try branch.step() ? branch.integer(0) : nil
            return (secret, try connection.integer("SELECT value FROM meta WHERE key = 'epoch'"), branchedAt)
        }
        guard secret.count == LogSecret.byteCount else {
            throw StoreError(.damaged, "the log is damaged: its secret is missing")
        }
        return Meta(secret: secret, epoch: epoch, branchedAt: branchedAt)
    }

    /// Adds `row` by `statement`, which was prepared from `insertRow`.
    static func insert(_ row: LogRow, _ statement: SQLiteStatement) throws(SQLiteFailure) {
        try statement.bind(1, row.first)
        try statement.bind(2, row.last)
        try statement.bind(3, row.previous)
        try statement.bind(4, row.epoch)
        try statement.run(blob: row.data, at: 5)
    }

    /// Runs `body` and turns a failure of SQLite into the log's error. `activity` completes "while …".
    static func attempt<Result>(
        _ activity: @autoclosure () -> String, _ body: () throws(SQLiteFailure) -> Result
    ) throws(StoreError) -> Result {
        do throws(SQLiteFailure) {
            return try body()
        } catch {
            throw error.storeError(activity())
        }
    }
}
