import TimerLog

/// The statements of a directory. Each is a transaction of its own.
enum DirectoryStatements {
    static let join = PostgresStatement(
        "timerd_join",
        """
        INSERT INTO timerd_node(session, beat, promised, ended, url, peer, reads, skew, leaving)
        VALUES ($1::bigint, 0, 0, false, $2::text, $3::text, $4::int, $5::bigint, $6::bool)
        ON CONFLICT (session) DO NOTHING
        """)

    /// The live nodes are joined to the owner's row, so that an answer has a row in any case. The rows after each
    /// standby's newest one are counted up to a bound; their sizes are known without reading data that is stored apart.
    static let beat = PostgresStatement(
        "timerd_beat",
        """
        WITH me AS (
          UPDATE timerd_node SET beat = beat + 1, promised = greatest(promised, $2::bigint), skew = $3::bigint,
            leaving = $4::bool, followed = $5::bigint
          WHERE session = $1::bigint AND NOT ended RETURNING session)
        SELECT h.mine, o.epoch, o.session, h.format, h.clock,
          n.session, n.beat, n.url, n.peer, n.reads, n.skew, n.leaving, n.followed, h.tail, u.count, u.bytes
        FROM timerd_owner o CROSS JOIN (SELECT EXISTS (SELECT 1 FROM me) AS mine,
            (SELECT convert_from(value, 'UTF8')::bigint FROM timerd_meta WHERE key = 'format') AS format,
            (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS clock,
            (SELECT last FROM timerd_log ORDER BY previous DESC LIMIT 1) AS tail) h
        LEFT JOIN timerd_node n ON NOT n.ended
        CROSS JOIN LATERAL (SELECT CASE n.session WHEN $1::bigint THEN $5::bigint ELSE n.followed END) f(followed)
        CROSS JOIN LATERAL (SELECT count(*), coalesce(sum(l.size), 0)::bigint FROM (
            SELECT octet_length(data) AS size FROM timerd_log
            WHERE previous >= f.followed AND f.followed >= 0 AND n.session IS DISTINCT FROM o.session
            ORDER BY previous LIMIT \(UnreadRows.most)) l) u(count, bytes)
        ORDER BY n.session
        """)

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
            UPDATE timerd_owner o SET session = $1::bigint, epoch = o.epoch + 1 FROM timerd_node n
            WHERE o.epoch = $2::bigint AND n.session = o.session AND (n.ended OR o.session = $1::bigint)
              AND EXISTS (SELECT 1 FROM timerd_node m WHERE m.session = $1::bigint AND NOT m.ended)
            RETURNING o.epoch, CASE WHEN n.ended THEN n.promised ELSE 0 END AS promised
            """,
            and: """
                f AS (
                  UPDATE timerd_meta SET value = convert_to(m.reads::text, 'UTF8') FROM timerd_node m
                  WHERE key = 'format' AND m.session = $1::bigint AND convert_from(value, 'UTF8')::int < m.reads
                    AND EXISTS (SELECT 1 FROM t)),
                """))

    static let give = PostgresStatement(
        "timerd_give",
        epoch(
            """
            UPDATE timerd_owner o SET session = $1::bigint, epoch = o.epoch + 1 FROM timerd_node n
            WHERE o.epoch = $2::bigint AND o.session = $5::bigint AND n.session = $1::bigint AND NOT n.ended
              AND NOT n.leaving
            RETURNING o.epoch, 0::bigint AS promised
            """))

    /// Returns a statement that begins an epoch by `change`, and also does `more`. The barrier has the key that the old
    /// owner's next append would have: one of the two fails.
    private static func epoch(_ change: String, and more: String = "") -> String {
        """
        WITH t AS (\(change)), \(more)
        h AS (SELECT last FROM timerd_log ORDER BY previous DESC LIMIT 1)
        INSERT INTO timerd_log(previous, first, last, epoch, data)
        SELECT h.last, x.place, x.place, t.epoch, $4::bytea FROM t, h,
        LATERAL (SELECT greatest(h.last, t.promised, $3::bigint) + 1) x(place)
        RETURNING epoch, previous, last
        """
    }

    static let endConnections = PostgresStatement(
        "timerd_end_connections",
        """
        SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) FROM pg_stat_activity
        WHERE application_name = $1::text AND datname = current_database() AND pid <> pg_backend_pid()
        """)

    static let forget = PostgresStatement(
        "timerd_forget",
        """
        DELETE FROM timerd_node n WHERE n.ended AND n.promised < $1::bigint
          AND NOT EXISTS (SELECT 1 FROM timerd_owner o WHERE o.session = n.session)
        """)
}
