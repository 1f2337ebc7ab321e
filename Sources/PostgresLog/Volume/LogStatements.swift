/// The statements of the log. Each is a transaction of its own.
enum LogStatements {
    /// Appends rows of any number of partitions. What fences is the key, and a row is written only by the session and epoch that
    /// own its partition and that know the end of its log.
    static let append = PostgresStatement(
        "timerd_append",
        """
        INSERT INTO timerd_log(part, previous, first, last, epoch, data)
        SELECT b.part, b.previous, b.first, b.last, b.epoch, b.data
        FROM unnest($2::int[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
            $9::bytea[]) AS b(part, epoch, tail, head, previous, first, last, data)
        JOIN timerd_partition p ON p.id = b.part AND p.epoch = b.epoch AND p.session = $1::bigint
        WHERE (SELECT t.last FROM timerd_log t WHERE t.part = b.part AND t.previous = b.tail) = b.head
        RETURNING part
        """)

    /// Who owns partitions, and where their logs end.
    static let ends = PostgresStatement(
        "timerd_ends",
        """
        SELECT p.id, p.epoch, p.session, h.previous, h.last FROM timerd_partition p,
        LATERAL (SELECT l.previous, l.last FROM timerd_log l WHERE l.part = p.id ORDER BY l.previous DESC LIMIT 1) h
        WHERE p.id = ANY($1::int[])
        """)

    /// Begins a new epoch for partitions of the session, with a row between the end of the log and the first position of rows
    /// whose fate is open: an append of theirs that is still under way takes the same key, so it is there before or never.
    static let reopen = PostgresStatement(
        "timerd_reopen",
        """
        WITH t AS (
          UPDATE timerd_partition p SET epoch = p.epoch + 1
          FROM unnest($2::int[], $3::bigint[], $4::bigint[]) AS b(part, epoch, first)
          WHERE p.id = b.part AND p.epoch = b.epoch AND p.session = $1::bigint
          RETURNING p.id, p.epoch, b.first)
        INSERT INTO timerd_log(part, previous, first, last, epoch, data)
        SELECT t.id, h.last, x.place, x.place, t.epoch, $5::bytea FROM t,
        LATERAL (SELECT l.last FROM timerd_log l WHERE l.part = t.id ORDER BY l.previous DESC LIMIT 1) h,
        LATERAL (SELECT CASE WHEN h.last < t.first THEN greatest(t.first - $6::bigint, h.last + $7::bigint)
          ELSE h.last + $7::bigint END) x(place)
        RETURNING part, previous, last, epoch
        """)

    /// The rows that follow given ends of logs; the data of small ones tells which of them begin an epoch.
    static let chain = PostgresStatement(
        "timerd_chain",
        """
        SELECT b.part, l.previous, l.first, l.last, l.epoch,
          CASE WHEN octet_length(l.data) <= 256 THEN l.data ELSE '' END
        FROM unnest($1::int[], $2::bigint[], $3::int[]) AS b(part, head, count),
        LATERAL (SELECT * FROM timerd_log l WHERE l.part = b.part AND l.previous >= b.head
          ORDER BY l.previous LIMIT b.count) l
        ORDER BY b.part, l.previous
        """)

    /// Ends a backend of this session, whose append holds the key of a row.
    static let endBackends = PostgresStatement(
        "timerd_end_backends",
        """
        SELECT count(pg_terminate_backend(a.pid)) FROM pg_stat_activity a
        WHERE a.pid = ANY($1::int[]) AND a.application_name = $2::text
        """)

    /// A page of rows from the key `$2` on, as many as hold `$4` bytes, but one at least.
    static let page = PostgresStatement(
        "timerd_page",
        """
        SELECT s.previous, s.first, s.last, s.epoch, l.data FROM (
          SELECT k.*, sum(k.size) OVER (ORDER BY k.previous) - k.size AS before FROM (
            SELECT previous, first, last, epoch, octet_length(data) AS size FROM timerd_log
            WHERE part = $1::int AND previous >= $2::bigint ORDER BY previous LIMIT $3::int) k) s
        JOIN timerd_log l ON l.part = $1::int AND l.previous = s.previous
        WHERE s.before < $4::bigint ORDER BY s.previous
        """)

    /// Of several logs, the rows from the one on that holds the position `$2` or comes behind it, as many as hold `$5` bytes,
    /// but one at least; with each row, whether another one follows.
    static let portions = PostgresStatement(
        "timerd_portions",
        """
        SELECT s.previous, s.first, s.last, s.epoch, l.data, b.part,
          (s.next IS NOT NULL OR s.rows = $4::int)::int
        FROM unnest($1::int[], $2::bigint[], $3::bigint[]) AS b(part, place, oldest)
        CROSS JOIN LATERAL (
          SELECT k.*, sum(k.size) OVER (ORDER BY k.previous) - k.size AS before,
            lead(k.previous) OVER (ORDER BY k.previous) AS next, count(*) OVER () AS rows
          FROM (
            SELECT previous, first, last, epoch, octet_length(data) AS size FROM timerd_log t
            WHERE t.part = b.part AND t.previous >= greatest(0, coalesce((
              SELECT CASE WHEN r.last < b.place THEN r.last ELSE r.previous END FROM timerd_log r
              WHERE r.part = b.part AND r.previous < b.place ORDER BY r.previous DESC LIMIT 1), b.oldest))
              AND octet_length(t.data) > 0
            ORDER BY t.previous LIMIT $4::int) k) s
        JOIN timerd_log l ON l.part = b.part AND l.previous = s.previous
        WHERE s.before < $5::bigint ORDER BY b.part, s.previous
        """)

    /// A page of the rows before the key `$3`, the newest first, none before the key `$2`: as many as hold `$5` bytes, but one
    /// at least.
    static let pageBack = PostgresStatement(
        "timerd_page_back",
        """
        SELECT s.previous, s.first, s.last, s.epoch, l.data FROM (
          SELECT k.*, sum(k.size) OVER (ORDER BY k.previous DESC) - k.size AS before FROM (
            SELECT previous, first, last, epoch, octet_length(data) AS size FROM timerd_log
            WHERE part = $1::int AND previous >= $2::bigint AND previous < $3::bigint
            ORDER BY previous DESC LIMIT $4::int) k) s
        JOIN timerd_log l ON l.part = $1::int AND l.previous = s.previous
        WHERE s.before < $5::bigint ORDER BY s.previous DESC
        """)

    /// The newest row that begins before a position. Its key is smaller than each position that the row holds.
    static let rowBefore = PostgresStatement(
        "timerd_row_before",
        """
        SELECT previous, first, last, epoch, data FROM timerd_log
        WHERE part = $1::int AND previous < $2::bigint ORDER BY previous DESC LIMIT 1
        """)

    /// Keys and sizes of the oldest rows, and how their data begins.
    static let oldest = PostgresStatement(
        "timerd_oldest",
        """
        SELECT previous, first, last, octet_length(data),
          CASE WHEN octet_length(data) <= 256 THEN data ELSE substring(data FROM 1 FOR $3::int) END FROM timerd_log
        WHERE part = $1::int AND previous >= $2::bigint ORDER BY previous LIMIT $4::int
        """)

    /// Deletes the rows of a range of keys, as the owner who knows the end of the log. Of the rows with the keys `$8` the data
    /// alone goes: nobody can write a row with such a key.
    static let delete = PostgresStatement(
        "timerd_delete",
        """
        WITH owned AS (
          SELECT p.id FROM timerd_partition p
          WHERE p.id = $2::int AND p.epoch = $3::bigint AND p.session = $1::bigint
            AND (SELECT t.last FROM timerd_log t WHERE t.part = $2::int AND t.previous = $4::bigint) = $5::bigint),
        held AS (
          UPDATE timerd_log l SET data = '' FROM owned
          WHERE l.part = $2::int AND l.previous = ANY($8::bigint[]) RETURNING l.previous)
        DELETE FROM timerd_log l USING owned
        WHERE l.part = $2::int AND l.previous >= $6::bigint AND l.previous < $7::bigint
          AND l.previous <> ALL($8::bigint[])
        """)

    /// Deletes rows that hold nothing but their keys, under the same condition.
    static let free = PostgresStatement(
        "timerd_free",
        """
        DELETE FROM timerd_log l USING timerd_partition p
        WHERE l.part = $2::int AND l.previous = ANY($6::bigint[]) AND octet_length(l.data) = 0
          AND p.id = $2::int AND p.epoch = $3::bigint AND p.session = $1::bigint
          AND (SELECT t.last FROM timerd_log t WHERE t.part = $2::int AND t.previous = $4::bigint) = $5::bigint
        """)

    /// Puts one row in the place of the rows from each of some keys on, where there are exactly as many as are expected.
    static let replace = PostgresStatement(
        "timerd_replace",
        """
        WITH b AS (SELECT * FROM unnest($6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bytea[])
            AS b(previous, first, last, epoch, count, data)),
        found AS (SELECT b.* FROM b JOIN timerd_partition p
            ON p.id = $2::int AND p.epoch = $3::bigint AND p.session = $1::bigint
          WHERE (SELECT t.last FROM timerd_log t WHERE t.part = $2::int AND t.previous = $4::bigint) = $5::bigint
            AND (SELECT count(*) FROM timerd_log l
              WHERE l.part = $2::int AND l.previous >= b.previous AND l.previous < b.last) = b.count),
        r AS (SELECT * FROM found WHERE (SELECT count(*) FROM found) = (SELECT count(*) FROM b)),
        gone AS (DELETE FROM timerd_log l USING r
          WHERE l.part = $2::int AND l.previous > r.previous AND l.previous < r.last RETURNING l.previous)
        UPDATE timerd_log l SET first = r.first, last = r.last, epoch = r.epoch, data = r.data FROM r
        WHERE l.part = $2::int AND l.previous = r.previous
        """)

    /// Bounds and number of the rows that a row to come would span.
    static let span = PostgresStatement(
        "timerd_span",
        """
        SELECT count(*), min(first), max(last), sum(octet_length(data))::bigint FROM timerd_log
        WHERE part = $1::int AND previous >= $2::bigint AND previous < $3::bigint
        """)

    /// Bytes of the log on the server's disk, and whether the role may vacuum the table.
    static let size = PostgresStatement("timerd_size", "SELECT pg_total_relation_size('timerd_log')")
}
