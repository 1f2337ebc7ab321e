internal import Platform
internal import TimerLog

/// The connections that readers share. May be used on any thread.
final class ReaderLinks: Sendable {
    /// The most connections at a time.
    private static let count = 3
    private let idle: Guarded<[PostgresLink]>

    init(_ address: PostgresAddress, session: Int64, _ timeouts: PostgresTimeouts) {
        let purpose = PostgresConnection.Purpose(session: session, statementTimeout: timeouts.page)
        idle = Guarded((0..<Self.count).map { _ in PostgresLink(address, for: purpose, timeouts) })
    }

    /// Runs `body` with a connection that nobody else uses meanwhile.
    func use<Result>(_ body: (PostgresConnection) throws(PostgresFailure) -> Result) throws(PostgresFailure) -> Result {
        // The link that was used last is the likeliest to be connected.
        let link = idle.wait { $0.popLast() }
        defer { idle.update { $0.append(link) } }
        return try link.use(body)
    }

    /// Runs `body` like `use`, and turns a failure into the log's error. `activity` completes "while …".
    func read<Result>(
        _ activity: @autoclosure () -> String, _ body: (PostgresConnection) throws(PostgresFailure) -> Result
    ) throws(StoreError) -> Result {
        do throws(PostgresFailure) {
            return try use(body)
        } catch {
            throw error.passingError(activity())
        }
    }

    /// Closes the connections that nobody uses.
    func close() {
        for link in idle.withLock({ $0 }) { link.close() }
    }
}
