import Foundation
import Platform
import TestSupport
import TimerLog

@testable import PostgresLog

/// A schema or a database of its own on the test process's server, with timerd's tables.
final class Cluster: Sendable {
    /// The server that is shared by the tests that do not harm it.
    static let shared = Result { try PostgresServer() }
    private static let count = Guarded(0)

    let server: PostgresServer
    let text: String
    let address: PostgresAddress

    /// Makes the tables in a new schema or, where a test changes more than tables, in a new database.
    init(isMigrated: Bool = true, on given: PostgresServer? = nil, ownDatabase: Bool = false) throws {
        server = try given ?? Self.shared.get()
        let number = Self.count.withLock { count in
            count += 1
            return count
        }
        let admin = try PostgresConnection.open(PostgresAddress(server.address), for: .init(session: 0))
        if ownDatabase {
            try admin.execute("CREATE DATABASE t\(number)", within: 30_000_000_000)
            text = "host=\(server.folder) user=postgres dbname=t\(number)"
        } else {
            try admin.execute("CREATE SCHEMA t\(number)")
            text = "\(server.address) options='-c search_path=t\(number)'"
        }
        address = try PostgresAddress(text)
        if isMigrated { _ = try PostgresSchema.migrate(address) }
    }

    /// Opens a connection for the statements of the test itself.
    func connect(_ session: Int64 = 0) throws -> PostgresConnection {
        try PostgresConnection.open(address, for: .init(session: session))
    }

    func execute(_ sql: String) throws { try connect().execute(sql) }

    /// The integer in the first column of the first row.
    func integer(_ sql: String) throws -> Int64 {
        try connect().run(PostgresStatement("test", "SELECT (\(sql))::bigint")).integer(0, 0)
    }

    /// The part of a query that finds the backends which wait for a lock. Tests run side by side on one server, so a test that
    /// asks has a database of its own.
    static let waiting = "FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"

    /// The number of backends that wait for a lock.
    func waiters() throws -> Int64 { try integer("SELECT count(*) \(Self.waiting)") }

    /// The number of rows in the log, without the one that its tables were made with.
    func rowCount() throws -> Int64 { try integer("SELECT count(*) FROM timerd_log WHERE previous >= 0") }

    /// Gives the log to `session`, without a row.
    func give(to session: Int64) throws {
        try execute("UPDATE timerd_owner SET session = \(session)")
    }

    /// A store whose session owns the log, open.
    func store(
        _ session: Int64 = 7, _ timeouts: PostgresTimeouts = .patient, via: PostgresAddress? = nil
    ) throws -> PostgresLogStore {
        try give(to: session)
        let store = try PostgresLogStore(via ?? address, session: session, timeouts)
        _ = try store.open()
        return store
    }
}

extension PostgresTimeouts {
    /// Limits that no test reaches, however long the disk takes for a commit.
    static let patient = {
        var timeouts = PostgresTimeouts()
        (timeouts.connect, timeouts.statement) = (Patience.nanoseconds, Patience.nanoseconds)
        return timeouts
    }()

    /// Limits for a test that reaches them. Its other statements have to keep within them too, so they are not the least that
    /// would do.
    static let hasty = {
        var timeouts = PostgresTimeouts()
        (timeouts.connect, timeouts.statement) = (3_000_000_000, 3_000_000_000)
        timeouts.lock = 100_000_000
        return timeouts
    }()
}

/// `count` rows of `width` records each after the position `after`, with room before the first.
func batch(
    after: Int64 = 0, count: Int = 1, width: Int64 = 10, bytes: Int = 100, epoch: Int64 = 0
) -> [LogRow] {
    var previous = after
    var first = after + 1 + AppendRules.settlements
    return (0..<count).map { _ in
        let row = LogRow(
            first: first, last: first + width - 1, previous: previous, epoch: epoch, data: pattern(first, bytes))
        previous = row.last
        first = row.last + 1
        return row
    }
}

extension LogStore {
    /// Appends a batch after the position that its first row names.
    func append(_ rows: [LogRow], epoch: Int64 = 0) -> AppendOutcome {
        append(rows, expecting: rows.first?.previous ?? 0, epoch: epoch)
    }

    /// Settles the append of a batch.
    func settle(_ rows: [LogRow], epoch: Int64 = 0) -> Settlement {
        settle(rows, expecting: rows.first?.previous ?? 0, epoch: epoch)
    }
}

/// Bytes that don't compress.
func noise(_ count: Int) -> [UInt8] {
    let source = FileHandle(forReadingAtPath: "/dev/urandom")
    return (try? source?.read(upToCount: count)).map { [UInt8]($0) } ?? []
}
