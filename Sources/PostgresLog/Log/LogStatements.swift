/// The statements of the log. Each is a transaction of its own.
enum LogStatements {
    /// Appends rows. The key is the fence, and rows are written only by the session and epoch that own the log and
    /// that know its end.
    static let append = PostgresStatement(
        "timerd_append",
        """
        INSERT INTO timerd_log(previous, first, last, epoch, data)
        SELECT b.previous, b.first, b.last, o.epoch, b.data
        FROM unnest($5::bigint[], $6::bigint[], $7::bigint[], $8::bytea[]) AS b(previous, first, last, data)
        JOIN timerd_owner o ON o.epoch = $2::bigint AND o.session = $1::bigint
        WHERE (SELECT t.last FROM timerd_log t WHERE t.previous = $3::bigint) = $4::bigint
        """)

    /// Reads the owner of the log, and the log's end.
    static let end = PostgresStatement(
        "timerd_log_end",
        """
        SELECT o.epoch, o.session, h.previous, h.last FROM timerd_owner o,
        LATERAL (SELECT l.previous, l.last FROM timerd_log l ORDER BY l.previous DESC LIMIT 1) h
        """)

    /// Begins a new epoch of the session that owns the log, with a row between the end of the log and the first
    /// position of rows whose outcome is open: an append of these rows that is still under way takes the same key,
    /// so it is committed before this statement or never.
    static let reopen = PostgresStatement(
        "timerd_reopen",
        """
        WITH o AS (
          UPDATE timerd_owner SET epoch = epoch + 1 WHERE epoch = $2::bigint AND session = $1::bigint RETURNING epoch),
        h AS (SELECT last FROM timerd_log ORDER BY previous DESC LIMIT 1)
        INSERT INTO timerd_log(previous, first, last, epoch, data)
        SELECT h.last, x.place, x.place, o.epoch, $5::bytea FROM o, h,
        LATERAL (SELECT CASE WHEN h.last < $3::bigint THEN greatest($3::bigint - $4::bigint, h.last + 1)
          ELSE h.last + 1 END) x(place)
        RETURNING epoch, previous, last
        """)

    /// Reads the rows after a given end of the log. The data of rows of at most 256 bytes show which of them begin
    /// an epoch.
    static let chain = PostgresStatement(
        "timerd_chain",
        """
        SELECT previous, first, last, epoch, CASE WHEN octet_length(data) <= 256 THEN data ELSE '' END FROM timerd_log
        WHERE previous >= $1::bigint ORDER BY previous LIMIT $2::int
        """)

    /// Ends backends of this session, whose appends may hold the key of a row.
    static let endBackends = PostgresStatement(
        "timerd_end_backends",
        """
        SELECT count(pg_terminate_backend(a.pid)) FROM pg_stat_activity a
        WHERE a.pid = ANY($1::int[]) AND a.application_name = $2::text
        """)

    /// Reads a page of rows from the key `$1` on: as many as hold `$3` bytes, but at least one and at most `$2`.
    static let page = PostgresStatement(
        "timerd_page",
        """
        SELECT s.previous, s.first, s.last, s.epoch, l.data FROM (
          SELECT k.*, sum(k.size) OVER (ORDER BY k.previous) - k.size AS before FROM (
            SELECT previous, first, last, epoch, octet_length(data) AS size FROM timerd_log
            WHERE previous >= $1::bigint ORDER BY previous LIMIT $2::int) k) s
        JOIN timerd_log l ON l.previous = s.previous
        WHERE s.before < $3::bigint ORDER BY s.previous
        """)

    /// Reads a page of the rows before the key `$2`, newest first, none before the key `$1`: as many as hold `$4`
    /// bytes, but at least one and at most `$3`.
    static let pageBack = PostgresStatement(
        "timerd_page_back",
        """
        SELECT s.previous, s.first, s.last, s.epoch, l.data FROM (
          SELECT k.*, sum(k.size) OVER (ORDER BY k.previous DESC) - k.size AS before FROM (
            SELECT previous, first, last, epoch, octet_length(data) AS size FROM timerd_log
            WHERE previous >= $1::bigint AND previous < $2::bigint ORDER BY previous DESC LIMIT $3::int) k) s
        JOIN timerd_log l ON l.previous = s.previous
        WHERE s.before < $4::bigint ORDER BY s.previous DESC
        """)

    /// Reads the newest row that begins before a position. The row's key is smaller than each position that the row
    /// holds.
    static let rowBefore = PostgresStatement(
        "timerd_row_before",
        """
        SELECT previous, first, last, epoch, data FROM timerd_log
        WHERE previous < $1::bigint ORDER BY previous DESC LIMIT 1
        """)

    /// Reads the keys and sizes of the oldest rows, and the first bytes of their data.
    static let oldest = PostgresStatement(
        "timerd_oldest",
        """
        SELECT previous, first, last, octet_length(data),
          CASE WHEN octet_length(data) <= 256 THEN data ELSE substring(data FROM 1 FOR $2::int) END FROM timerd_log
        WHERE previous >= $1::bigint ORDER BY previous LIMIT $3::int
        """)

    /// Deletes the rows of a range of keys, if the caller owns the log and knows its end. The rows with the keys
    /// `$7` lose their data alone, so that nobody can write a row with such a key.
    static let delete = PostgresStatement(
        "timerd_delete",
        """
        WITH owned AS (
          SELECT o.epoch FROM timerd_owner o WHERE o.epoch = $2::bigint AND o.session = $1::bigint
            AND (SELECT t.last FROM timerd_log t WHERE t.previous = $3::bigint) = $4::bigint),
        held AS (
          UPDATE timerd_log l SET data = '' FROM owned WHERE l.previous = ANY($7::bigint[]) RETURNING l.previous)
        DELETE FROM timerd_log l USING owned
        WHERE l.previous >= $5::bigint AND l.previous < $6::bigint AND l.previous <> ALL($7::bigint[])
        """)

    /// Deletes rows that hold nothing but their keys, under the same condition.
    static let free = PostgresStatement(
        "timerd_free",
        """
        DELETE FROM timerd_log l USING timerd_owner o
        WHERE l.previous = ANY($5::bigint[]) AND octet_length(l.data) = 0
          AND o.epoch = $2::bigint AND o.session = $1::bigint
          AND (SELECT t.last FROM timerd_log t WHERE t.previous = $3::bigint) = $4::bigint
        """)

    /// Replaces the rows from each of some keys on by one row, if there are exactly as many of them as are
    /// expected; all replacements are made, or none.
    static let replace = PostgresStatement(
        "timerd_replace",
        """
        WITH b AS (SELECT * FROM unnest($5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bytea[])
            AS b(previous, first, last, epoch, count, data)),
        found AS (SELECT b.* FROM b JOIN timerd_owner o ON o.epoch = $2::bigint AND o.session = $1::bigint
          WHERE (SELECT t.last FROM timerd_log t WHERE t.previous = $3::bigint) = $4::bigint
            AND (SELECT count(*) FROM timerd_log l
              WHERE l.previous >= b.previous AND l.previous < b.last) = b.count),
        r AS (SELECT * FROM found WHERE (SELECT count(*) FROM found) = (SELECT count(*) FROM b)),
        gone AS (DELETE FROM timerd_log l USING r
          WHERE l.previous > r.previous AND l.previous < r.last RETURNING l.previous)
        UPDATE timerd_log l SET first = r.first, last = r.last, epoch = r.epoch, data = r.data FROM r
        WHERE l.previous = r.previous
        """)

    /// Reads the number, the bounds and the bytes of the rows that a new row would span.
    static let span = PostgresStatement(
        "timerd_span",
        """
        SELECT count(*), min(first), max(last), sum(octet_length(data))::bigint FROM timerd_log
        WHERE previous >= $1::bigint AND previous < $2::bigint
        """)

    /// Reads the bytes of the log on the server's disk.
    static let size = PostgresStatement("timerd_size", "SELECT pg_total_relation_size('timerd_log')")
}
