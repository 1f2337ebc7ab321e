internal import Platform

/// A connection that is opened when it is needed, and again after it was lost. May be called on any thread; one at
/// a time uses the connection.
public final class PostgresLink: @unchecked Sendable {
    // Unchecked: one thread at a time uses the connection, under the lock.
    private let address: PostgresAddress
    private var purpose: PostgresConnection.Purpose
    private let timeouts: PostgresTimeouts
    private let lock = Lock()
    private var connection: PostgresConnection?

    /// Makes a closed link.
    public init(
        _ address: PostgresAddress, for purpose: PostgresConnection.Purpose,
        _ timeouts: PostgresTimeouts = PostgresTimeouts()
    ) {
        self.address = address
        self.purpose = purpose
        self.timeouts = timeouts
    }

    /// Runs `body` with a connection that is alive as far as is known. Not recursive. A failure that leaves the
    /// outcome of a statement open closes the connection.
    public func use<Result>(
        _ body: (PostgresConnection) throws(PostgresFailure) -> Result
    ) throws(PostgresFailure) -> Result {
        try lock.withLock { () throws(PostgresFailure) in
            let connection = try connected()
            do throws(PostgresFailure) {
                return try body(connection)
            } catch {
                if !error.isCertain { self.connection = nil }
                throw error
            }
        }
    }

    private func connected() throws(PostgresFailure) -> PostgresConnection {
        if let connection, connection.isAlive() { return connection }
        connection = nil
        let made = try PostgresConnection.open(address, for: purpose, timeouts)
        connection = made
        return made
    }

    /// Closes the connection, after the use under way; the next one bears the name of another session.
    func begin(session: Int64) {
        lock.withLock {
            purpose.session = session
            connection = nil
        }
    }

    /// Closes the connection, after the use under way.
    public func close() { lock.withLock { connection = nil } }
}
