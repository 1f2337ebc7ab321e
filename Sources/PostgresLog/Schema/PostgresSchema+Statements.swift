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
            leaving boolean NOT NULL) WITH (fillfactor = 20)
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

    /// The statement that adds the end of an empty log. Its key, −1, marks the row as none of the log's.
    static let insertGenesis = PostgresStatement(
        "timerd_genesis",
        "INSERT INTO timerd_log(previous, first, last, epoch, data) VALUES (-1, 0, 0, 0, $1::bytea)")
    static let selectMeta = PostgresStatement("timerd_meta", "SELECT key, value FROM timerd_meta")
    static let insertMeta = PostgresStatement(
        "timerd_meta_insert", "INSERT INTO timerd_meta(key, value) VALUES ($1::text, $2::bytea)")
}
