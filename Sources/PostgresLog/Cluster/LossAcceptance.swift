public import TimerLog

/// The acceptance of lost rows by operators, for which servers wait after a fail-over to a standby that was behind.
public enum LossAcceptance {
    private static let key = "accepted_loss"
    private static let select = PostgresStatement(
        "timerd_accepted", "SELECT value FROM timerd_meta WHERE key = $1::text")
    private static let raise = PostgresStatement(
        "timerd_accept",
        """
        INSERT INTO timerd_meta(key, value)
        SELECT $1::text, convert_to(coalesce((SELECT last FROM timerd_log ORDER BY previous DESC LIMIT 1), 0)::text, 'UTF8')
        ON CONFLICT (key) DO UPDATE SET value = excluded.value
        """)

    /// Reads the position at which the log ended when an operator last accepted what was lost; 0 before the first time. The
    /// mark of a timerd up to 0.2.0, which is no position, counts as none.
    ///
    /// - Throws: `unavailable` where the server can't be reached.
    public static func latest(_ address: PostgresAddress) throws(StoreError) -> Int64 {
        try use(address, "reading what is accepted to be lost") { connection throws(PostgresFailure) in
            let found = try connection.run(select, [.text(key)])
            return found.count == 0 ? 0 : Int64(String(decoding: found.bytes(0, 0), as: UTF8.self)) ?? 0
        }
    }

    /// Accepts the loss of the rows that servers have reported as lost up to now.
    public static func accept(_ address: PostgresAddress) throws(StoreError) {
        try use(address, "accepting the loss") { connection throws(PostgresFailure) in
            _ = try connection.run(raise, [.text(key)])
        }
    }

    private static func use<Result>(
        _ address: PostgresAddress, _ activity: String, _ body: (PostgresConnection) throws(PostgresFailure) -> Result
    ) throws(StoreError) -> Result {
        do throws(PostgresFailure) {
            return try body(PostgresConnection.open(address, for: PostgresConnection.Purpose(session: 0)))
        } catch {
            throw error.storeError(activity)
        }
    }
}
