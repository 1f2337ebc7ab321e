extension PostgresSchema {
    /// The table that says which version the others have.
    static let createMeta = """
        CREATE TABLE IF NOT EXISTS timerd_meta (
            key text PRIMARY KEY,
            value bytea NOT NULL)
        """

    /// How each version is made of the one before; the first, of nothing.
    static let steps: [[String]] = [
        [
            """
            CREATE TABLE timerd_node (
                session bigint PRIMARY KEY,
                beat bigint NOT NULL,
                promised bigint NOT NULL,
                ended boolean NOT NULL,
                url text NOT NULL,
                reads int NOT NULL,
                speaks int NOT NULL,
                skew bigint NOT NULL,
                leaving boolean NOT NULL) WITH (fillfactor = 20)
            """,
            """
            CREATE TABLE timerd_partition (
                id int PRIMARY KEY,
                epoch bigint NOT NULL,
                session bigint NOT NULL) WITH (fillfactor = 50)
            """,
            """
            CREATE TABLE timerd_log (
                part int NOT NULL,
                previous bigint NOT NULL,
                first bigint NOT NULL,
                last bigint NOT NULL,
                epoch bigint NOT NULL,
                data bytea NOT NULL,
                PRIMARY KEY (part, previous)) WITH (
                autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
                autovacuum_vacuum_cost_delay = 0, toast.autovacuum_vacuum_scale_factor = 0,
                toast.autovacuum_vacuum_threshold = 20000, toast.autovacuum_vacuum_cost_delay = 0)
            """,
            // The data is compressed already.
            "ALTER TABLE timerd_log ALTER data SET STORAGE EXTERNAL",
        ],
        // A version that does not know the column leaves it empty: nothing is forwarded to it.
        ["ALTER TABLE timerd_node ADD COLUMN peer text NOT NULL DEFAULT ''"],
    ]

    static let selectMeta = PostgresStatement("timerd_meta", "SELECT key, value FROM timerd_meta")
    static let putMeta = PostgresStatement(
        "timerd_meta_put",
        "INSERT INTO timerd_meta(key, value) VALUES ($1::text, $2::bytea) ON CONFLICT (key) DO UPDATE SET value = $2::bytea"
    )
    static let insertSession = PostgresStatement(
        "timerd_session_0",
        """
        INSERT INTO timerd_node(session, beat, promised, ended, url, reads, speaks, skew, leaving)
        VALUES (0, 0, 0, true, '', 0, 0, 0, false)
        """)
    static let insertPartitions = PostgresStatement(
        "timerd_partitions",
        "INSERT INTO timerd_partition(id, epoch, session) SELECT p.id, 0, 0 FROM unnest($1::int[]) AS p(id)")
    static let insertGenesis = PostgresStatement(
        "timerd_genesis",
        """
        INSERT INTO timerd_log(part, previous, first, last, epoch, data)
        SELECT p.id, -1, p.id, p.id, 0, $2::bytea FROM unnest($1::int[]) AS p(id)
        """)
}
