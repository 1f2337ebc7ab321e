import Platform
import TestSupport
import TimerLog

@testable import PostgresLog

/// Logs in a real PostgreSQL, which all tests of this module share: each has a database of its own.
enum PostgresLogs {
    private static let server = Result { try PostgresServer() }
    private static let count = Guarded(0)

    /// The log of a new cluster, closed.
    static func store() throws -> any LogStore {
        let server = try server.get()
        let number = count.withLock { count in
            count += 1
            return count
        }
        let admin = try PostgresConnection.open(PostgresAddress(server.address), for: .init(session: 0))
        try admin.execute("CREATE DATABASE c\(number)", within: 30_000_000_000)
        let address = try PostgresAddress("host=\(server.folder) user=postgres dbname=c\(number)")
        _ = try PostgresSchema.migrate(address)
        let owner = try PostgresConnection.open(address, for: .init(session: 0))
        try owner.execute("UPDATE timerd_owner SET session = 7")
        return try PostgresLogStore(address, session: 7)
    }
}
