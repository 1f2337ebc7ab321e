public import TimerLog

/// The acceptance of lost rows by operators, for which servers wait after a fail-over to a standby that was behind.
public enum LossAcceptance {
    private static let key = "accepted_loss"
    private static let select = PostgresStatement(
        "timerd_accepted", "SELECT value FROM timerd_meta WHERE key = $1::text")
    private static let raise = PostgresStatement(
        "timerd_accept",
        """
        INSERT INTO timerd_meta(key, value) VALUES ($1::text, $2::bytea)
        ON CONFLICT (key) DO UPDATE SET value = $2::bytea
        """)

    /// Reads the mark of the last acceptance, another value each time; empty before the first.
    ///
    /// - Throws: `unavailable` where the server can't be reached.
    public static func latest(_ address: PostgresAddress) throws(StoreError) -> [UInt8] {
        try use(address, "reading what is accepted to be lost") { connection throws(PostgresFailure) in
            let found = try connection.run(select, [.text(key)])
            return found.count == 0 ? [] : found.bytes(0, 0)
        }
    }

    /// Accepts the loss of the rows that servers have reported as lost up to now.
    ///
    /// - Parameter mark: random bytes, different from those of every earlier acceptance.
    public static func accept(_ address: PostgresAddress, mark: [UInt8]) throws(StoreError) {
        try use(address, "accepting the loss") { connection throws(PostgresFailure) in
            _ = try connection.run(raise, [.text(key), .bytes(mark)])
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
