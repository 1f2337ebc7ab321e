internal import Platform
internal import TimerLog

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
    /// outcome of a statement open closes the connection, and so does a server that takes no writes any more: the next
    /// connection goes to the one that does.
    public func use<Result>(
        _ body: (PostgresConnection) throws(PostgresFailure) -> Result
    ) throws(PostgresFailure) -> Result {
        try lock.withLock { () throws(PostgresFailure) in
            let connection = try connected()
            do throws(PostgresFailure) {
                return try body(connection)
            } catch {
                if !error.isCertain || error.isReadOnly { self.connection = nil }
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

/// The connections that readers share. May be used on any thread.
final class ReaderLinks: Sendable {
    /// The most connections at a time.
    private static let count = 3
    private let all: [ReaderLink]
    private let idle: Guarded<[ReaderLink]>

    private struct ReaderLink {
        let link: PostgresLink
        /// The event that aborts the read under way.
        let interrupt: EventFD
    }

    init(_ address: PostgresAddress, session: Int64, _ timeouts: PostgresTimeouts) {
        all = (0..<Self.count).map { _ in
            let interrupt = EventFD()
            let purpose = PostgresConnection.Purpose(
                session: session, statementTimeout: timeouts.page, interrupt: interrupt)
            return ReaderLink(link: PostgresLink(address, for: purpose, timeouts), interrupt: interrupt)
        }
        idle = Guarded(all)
    }

    /// Runs `body` with a connection that nobody else uses meanwhile.
    func use<Result>(_ body: (PostgresConnection) throws(PostgresFailure) -> Result) throws(PostgresFailure) -> Result {
        // The link that was used last is the likeliest to be connected.
        let reader = idle.wait { $0.popLast() }
        defer { idle.update { $0.append(reader) } }
        reader.interrupt.drain()
        return try reader.link.use(body)
    }

    /// Makes the reads under way fail, and closes their connections.
    func interrupt() { for reader in all { reader.interrupt.signal() } }

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
        for reader in idle.withLock({ $0 }) { reader.link.close() }
    }
}

/// The limits on waiting for the server, in nanoseconds.
public struct PostgresTimeouts: Sendable {
    /// The limit for a connection to one host, unless the address has a `connect_timeout`.
    public var connect: Int64 = 3_000_000_000
    /// The limit for a statement.
    public var statement: Int64 = 5_000_000_000
    /// The addition for each MiB that an append carries.
    public var mebibyte: Int64 = 1_000_000_000
    /// The limit for a page of rows.
    public var page: Int64 = 30_000_000_000
    /// The limit for a `VACUUM`.
    public var vacuum: Int64 = 3_600_000_000_000
    /// How long a reopening waits for a row that an append under way holds, before it ends that append's backend.
    public var lock: Int64 = 500_000_000

    /// Makes the usual limits.
    public init() {}
}
