internal import TimerLog

/// Detects a pooler that hands each transaction of a connection to another backend.
enum PoolerCheck {
    private static let statement = PostgresStatement(
        "timerd_backend", "SELECT pg_backend_pid(), current_setting('plan_cache_mode')")

    /// Throws `unusable` where two statements of a connection run in different backends, or those of two
    /// connections in the same one.
    static func verify(_ one: PostgresConnection, _ other: PostgresConnection) throws(PostgresFailure) {
        let first = try one.run(statement).integer(0, 0)
        let second = try other.run(statement).integer(0, 0)
        let again = try one.run(statement)
        guard first == one.backend, first != second, again.integer(0, 0) == first,
            again.text(0, 1) == "force_generic_plan"
        else { throw failure }
    }

    /// The failure of a connection through such a pooler.
    static let failure = PostgresFailure(
        "a pooler hands each transaction to another backend; timerd needs a direct connection, or a pooler of sessions",
        isCertain: true, kind: .unusable)
}
