/// What a directory asks of the server; each statement is a transaction of its own.
enum DirectoryStatements {
    /// The column `speaks` is read by earlier versions alone: 0 means to them that one node is to own all partitions.
    static let join = PostgresStatement(
        "timerd_join",
        """
        INSERT INTO timerd_node(session, beat, promised, ended, url, reads, speaks, skew, leaving, peer)
        VALUES ($1::bigint, 0, 0, false, $2::text, $3::int, 0, $4::bigint, $5::bool, $6::text)
        ON CONFLICT (session) DO NOTHING
        """)

    /// The live nodes are joined to one row, so that an answer has a row in any case.
    static let beat = PostgresStatement(
        "timerd_beat",
        """
        WITH me AS (
          UPDATE timerd_node SET beat = beat + 1, promised = greatest(promised, $2::bigint), skew = $3::bigint,
            leaving = $4::bool
          WHERE session = $1::bigint AND NOT ended RETURNING session)
        SELECT h.mine, h.epochs, h.format, h.clock, n.session, n.beat, n.url, n.reads, n.skew, n.leaving, n.peer
        FROM (SELECT EXISTS (SELECT 1 FROM me) AS mine,
            (SELECT coalesce(sum(epoch), 0)::bigint FROM timerd_partition) AS epochs,
            (SELECT convert_from(value, 'UTF8')::bigint FROM timerd_meta WHERE key = 'format') AS format,
            (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS clock) h
        LEFT JOIN timerd_node n ON NOT n.ended
        ORDER BY n.session
        """)

    static let owners = PostgresStatement(
        "timerd_owners", "SELECT id, epoch, session FROM timerd_partition ORDER BY id")

    static let end = PostgresStatement(
        "timerd_end",
        "UPDATE timerd_node SET ended = true WHERE session = $1::bigint AND beat = $2::bigint AND NOT ended")

    static let leave = PostgresStatement(
        "timerd_leave",
        """
        UPDATE timerd_node SET ended = true, promised = least(promised, $2::bigint)
        WHERE session = $1::bigint AND NOT ended
        """)

    static let take = PostgresStatement(
        "timerd_take",
        epoch(
            """
            UPDATE timerd_partition p SET session = $1::bigint, epoch = p.epoch + 1 FROM timerd_node n
            WHERE p.id = $2::int AND p.epoch = $3::bigint AND n.session = p.session
              AND (n.ended OR p.session = $1::bigint)
              AND EXISTS (SELECT 1 FROM timerd_node m WHERE m.session = $1::bigint AND NOT m.ended)
            RETURNING p.id, p.epoch, CASE WHEN n.ended THEN n.promised ELSE 0 END AS promised
            """))

    static let give = PostgresStatement(
        "timerd_give",
        epoch(
            """
            UPDATE timerd_partition p SET session = $1::bigint, epoch = p.epoch + 1 FROM timerd_node n
            WHERE p.id = $2::int AND p.epoch = $3::bigint AND p.session = $6::bigint
              AND n.session = $1::bigint AND NOT n.ended
            RETURNING p.id, p.epoch, 0::bigint AS promised
            """))

    /// Begins an epoch. The barrier has the key that the old owner's next append would have: one of the two fails.
    private static func epoch(_ change: String) -> String {
        """
        WITH t AS (\(change)),
        h AS (SELECT last FROM timerd_log WHERE part = $2::int ORDER BY previous DESC LIMIT 1),
        b AS (INSERT INTO timerd_log(part, previous, first, last, epoch, data)
          SELECT t.id, h.last, x.f, x.f, t.epoch, $5::bytea FROM t, h,
            LATERAL (SELECT ((greatest(h.last, t.promised, $4::bigint) >> 10) + 1 << 10) + t.id) x(f)
          RETURNING previous, last, epoch)
        SELECT epoch, previous, last FROM b
        """
    }

    static let endConnections = PostgresStatement(
        "timerd_end_connections",
        """
        SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) FROM pg_stat_activity
        WHERE application_name = $1::text AND datname = current_database() AND pid <> pg_backend_pid()
        """)

    static let announce = PostgresStatement(
        "timerd_announce",
        """
        UPDATE timerd_meta SET value = convert_to($1::text, 'UTF8')
        WHERE key = 'format' AND convert_from(value, 'UTF8')::bigint < $1::text::bigint
        """)

    static let forget = PostgresStatement(
        "timerd_forget",
        """
        DELETE FROM timerd_node n WHERE n.ended AND n.promised < $1::bigint
          AND NOT EXISTS (SELECT 1 FROM timerd_partition p WHERE p.session = n.session)
        """)
}
