public import TimerLog

/// The tables of a cluster, in the first schema of the connection's `search_path`: how they are made, and how they
/// are recognised.
public enum PostgresSchema {
    /// The versions that `migrate` found and left.
    public struct Migration: Sendable, Equatable {
        /// The version before; 0 where there were no tables.
        public var from: Int
        /// The version now.
        public var to: Int
    }

    /// The version of the tables that this program makes and reads.
    public static let version = 3
    /// The most tries of a migration that collides with another one.
    private static let tries = 20

    /// Makes the tables where there are none. Several processes may do so at once.
    ///
    /// - Throws: `unusable` where the tables have another version, or the role may not make them.
    public static func migrate(_ address: PostgresAddress) throws(StoreError) -> Migration {
        let found: Int
        do throws(PostgresFailure) {
            found = try makeTables(address)
        } catch {
            throw error.storeError("making the tables")
        }
        if found > 0, let refusal = refusal(of: found) { throw refusal }
        return Migration(from: found, to: version)
    }

    /// Returns the version of the tables that were there; 0 where there were none.
    private static func makeTables(_ address: PostgresAddress) throws(PostgresFailure) -> Int {
        let purpose = PostgresConnection.Purpose(session: 0)
        var tried = 0
        while true {
            tried += 1
            // Each try has a connection of its own, which ends what the one before left of a transaction.
            let connection = try PostgresConnection.open(address, for: purpose)
            do throws(PostgresFailure) {
                return try makeTables(connection)
            } catch  where (error.isDuplicate || error.isCollision || error.isRace) && tried < tries {
                continue
            }
        }
    }

    private static func makeTables(_ connection: PostgresConnection) throws(PostgresFailure) -> Int {
        try connection.execute("BEGIN")
        // One of several processes goes on; the others wait here, or fail and begin again.
        try connection.execute(createMeta)
        try connection.execute("LOCK TABLE timerd_meta IN ACCESS EXCLUSIVE MODE")
        let found = number("schema", in: try connection.run(selectMeta)) ?? 0
        if found == 0 {
            for statement in createTables { try connection.execute(statement) }
            try fill(connection)
        } else if found == version, try !hasAllColumns(connection) {
            // Beats wait behind a statement that waits for the table.
            try connection.execute("SET LOCAL lock_timeout = '500ms'")
            try connection.execute(addFollowed)
        }
        try connection.execute("COMMIT")
        return found
    }

    /// Whether the tables have the column that was added to those of this version; servers without it write and read
    /// the tables all the same.
    private static func hasAllColumns(_ connection: PostgresConnection) throws(PostgresFailure) -> Bool {
        try connection.run(selectFollowed).count > 0
    }

    /// Writes the end of an empty log, and the settings of a new cluster.
    private static func fill(_ connection: PostgresConnection) throws(PostgresFailure) {
        _ = try connection.run(insertGenesis, [.bytes(BatchRows.barrier())])
        let settings = [
            ("schema", Array("\(version)".utf8)), ("format", Array("\(BatchHeader.format)".utf8)),
            ("secret", LogSecret.fresh()),
        ]
        for (key, value) in settings { _ = try connection.run(insertMeta, [.text(key), .bytes(value)]) }
    }

    /// Reads the secret of a cluster. Throws `unusable` where there are no tables, or tables of another version.
    static func secret(_ connection: PostgresConnection) throws(StoreError) -> [UInt8] {
        let found: PostgresResult
        let isComplete: Bool
        do throws(PostgresFailure) {
            found = try connection.run(selectMeta)
            isComplete = try hasAllColumns(connection)
        } catch {
            guard error.isMissingTable else { throw error.storeError("reading timerd's settings") }
            throw notMigrated("timerd's tables are not in this database, or not in the role's search_path")
        }
        guard let version = number("schema", in: found) else { throw notMigrated("timerd's tables are empty") }
        if let refusal = refusal(of: version) { throw refusal }
        guard isComplete else { throw notMigrated("the table timerd_node lacks the column followed") }
        guard let secret = value("secret", in: found), secret.count == LogSecret.byteCount else {
            throw StoreError(.damaged, "the table timerd_meta is damaged: the secret is not whole")
        }
        return secret
    }

    /// Returns why this program can't use tables of the version `found`; nil where it can.
    private static func refusal(of found: Int) -> StoreError? {
        if found == version { return nil }
        let what = "timerd's tables have version \(found)"
        if found > version {
            return StoreError(.unusable, "\(what), made by a newer timerd; this one knows \(version)")
        }
        return StoreError(
            .unusable,
            """
            \(what), of an earlier design that can't be read: export the timers with the version of timerd that wrote them \
            (`timerd export`), drop the tables or name another schema, and import the timers here (`timerd import`)
            """)
    }

    private static func notMigrated(_ what: String) -> StoreError {
        StoreError(.unusable, "\(what); run `timerd store migrate`")
    }

    private static func value(_ key: String, in found: PostgresResult) -> [UInt8]? {
        (0..<found.count).first { found.text($0, 0) == key }.map { found.bytes($0, 1) }
    }

    private static func number(_ key: String, in found: PostgresResult) -> Int? {
        value(key, in: found).flatMap { Int(String(decoding: $0, as: UTF8.self)) }
    }
}

extension PostgresSchema {
    /// Checks that the role may do what a server does with the tables; reading a log takes fewer rights.
    ///
    /// - Throws: `unusable`, naming what is missing.
    public static func checkRights(_ address: PostgresAddress) throws(StoreError) {
        do throws(PostgresFailure) {
            let connection = try PostgresConnection.open(address, for: PostgresConnection.Purpose(session: 0))
            let missing = try connection.run(missingRights)
            guard missing.count > 0 else { return }
            let rights = (0..<missing.count).map { "\(missing.text($0, 1)) on \(missing.text($0, 0))" }
            throw PostgresFailure(
                "permission denied: the role lacks \(rights.joined(separator: ", "))", isCertain: true, kind: .unusable)
        } catch {
            throw error.storeError("looking at the role's rights")
        }
    }

    private static let missingRights = PostgresStatement(
        "timerd_rights",
        """
        SELECT t.name, r.name FROM unnest(ARRAY['timerd_meta', 'timerd_node', 'timerd_owner', 'timerd_log']) AS t(name),
          unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS r(name)
        WHERE NOT has_table_privilege(t.name, r.name)
          AND (t.name, r.name) NOT IN (('timerd_meta', 'INSERT'), ('timerd_meta', 'DELETE'), ('timerd_owner', 'INSERT'),
            ('timerd_owner', 'DELETE'))
        """)
}

extension PostgresSchema {
    /// The statement that makes the table of settings, one of which is the version of all tables.
    static let createMeta = """
        CREATE TABLE IF NOT EXISTS timerd_meta (
            key text PRIMARY KEY,
            value bytea NOT NULL)
        """

    /// The statements that make the other tables and their first rows.
    static let createTables = [
        """
        CREATE TABLE timerd_node (
            session bigint PRIMARY KEY,
            beat bigint NOT NULL,
            promised bigint NOT NULL,
            ended boolean NOT NULL,
            url text NOT NULL,
            peer text NOT NULL,
            reads int NOT NULL,
            skew bigint NOT NULL,
            leaving boolean NOT NULL,
            followed bigint NOT NULL DEFAULT -1) WITH (fillfactor = 20)
        """,
        """
        CREATE TABLE timerd_owner (
            single boolean PRIMARY KEY CHECK (single),
            epoch bigint NOT NULL,
            session bigint NOT NULL) WITH (fillfactor = 50)
        """,
        """
        CREATE TABLE timerd_log (
            previous bigint PRIMARY KEY,
            first bigint NOT NULL,
            last bigint NOT NULL,
            epoch bigint NOT NULL,
            data bytea NOT NULL) WITH (
            autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
            autovacuum_vacuum_cost_delay = 0, toast.autovacuum_vacuum_scale_factor = 0,
            toast.autovacuum_vacuum_threshold = 20000, toast.autovacuum_vacuum_cost_delay = 0)
        """,
        // The data is compressed already.
        "ALTER TABLE timerd_log ALTER data SET STORAGE EXTERNAL",
        // The log belongs to a session that has ended.
        """
        INSERT INTO timerd_node(session, beat, promised, ended, url, peer, reads, skew, leaving)
        VALUES (0, 0, 0, true, '', '', 0, 0, false)
        """,
        "INSERT INTO timerd_owner(single, epoch, session) VALUES (true, 0, 0)",
    ]

    /// The statement that adds a marker row at the end of an empty log. Its key, −1, shows that it is no row of the
    /// log.
    static let insertGenesis = PostgresStatement(
        "timerd_genesis",
        "INSERT INTO timerd_log(previous, first, last, epoch, data) VALUES (-1, 0, 0, 0, $1::bytea)")
    /// The statement that adds the column by which standbys report what they have read.
    static let addFollowed = "ALTER TABLE timerd_node ADD COLUMN followed bigint NOT NULL DEFAULT -1"
    static let selectFollowed = PostgresStatement(
        "timerd_followed",
        """
        SELECT 1 FROM pg_attribute
        WHERE attrelid = to_regclass('timerd_node') AND attname = 'followed' AND NOT attisdropped
        """)
    static let selectMeta = PostgresStatement("timerd_meta", "SELECT key, value FROM timerd_meta")
    static let insertMeta = PostgresStatement(
        "timerd_meta_insert", "INSERT INTO timerd_meta(key, value) VALUES ($1::text, $2::bytea)")
}

extension PostgresFailure {
    /// Whether another process made or changed a table meanwhile.
    fileprivate var isRace: Bool { ["42P07", "42710", "XX000", "42P06"].contains(state ?? "") && isCertain }
}
