import Foundation
import Platform
import TestSupport
import TimerLog

@testable import PostgresLog

/// A schema or a database of its own on the test process's server, with timerd's tables.
final class Cluster: Sendable {
    /// The server that tests share which do not harm it.
    static let shared = Result { try PostgresServer() }
    private static let count = Guarded(0)

    let server: PostgresServer
    let text: String
    let address: PostgresAddress

    /// Makes the tables in a new schema or, where a test changes more than tables, in a new database.
    init(partitions: Int? = 4, on given: PostgresServer? = nil, ownDatabase: Bool = false) throws {
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
        if let partitions { _ = try PostgresSchema.migrate(address, partitions: partitions) }
    }

    /// A connection for what a test does beside the code.
    func connect(_ session: Int64 = 0) throws -> PostgresConnection {
        try PostgresConnection.open(address, for: .init(session: session))
    }

    func execute(_ sql: String) throws { try connect().execute(sql) }

    /// The integer in the first column of the first row.
    func integer(_ sql: String) throws -> Int64 {
        try connect().run(PostgresStatement("test", "SELECT (\(sql))::bigint")).integer(0, 0)
    }

    /// Gives all partitions to `session`, without a row.
    func give(to session: Int64) throws {
        try execute("UPDATE timerd_partition SET session = \(session)")
    }

    /// A volume whose session owns all partitions, each log open.
    func volume(_ session: Int64 = 7, _ timeouts: PostgresTimeouts = PostgresTimeouts(), via: PostgresAddress? = nil)
        throws
        -> PostgresLogVolume
    {
        try give(to: session)
        let volume = try PostgresLogVolume(via ?? address, session: session, timeouts)
        for partition in 0..<volume.layout.count { _ = try volume.store(partition).open() }
        return volume
    }
}

/// `count` rows of `width` records each of a partition, behind the position `after`, with room before the first.
func stridedChain(
    _ partition: Int = 0, after: Int64 = 0, count: Int = 1, width: Int64 = 10, bytes: Int = 100, epoch: Int64 = 0
) -> [LogRow] {
    var previous = after
    var first = (after / 1024 + 1 + PartitionLayout.settlements) * 1024 + Int64(partition)
    return (0..<count).map { _ in
        let row = LogRow(
            first: first, last: first + (width - 1) * 1024, previous: previous, partition: Int32(partition),
            stride: 1024,
            epoch: epoch, data: pattern(first, bytes))
        previous = row.last
        first = row.last + 1024
        return row
    }
}

extension LogVolume {
    /// Appends a batch to each of some partitions at their ends.
    func append(_ batches: [Int: [LogRow]], epoch: Int64 = 0) -> [AppendOutcome] {
        append(
            batches.sorted { $0.key < $1.key }.map { partition, rows in
                PartitionAppend(partition: partition, rows: rows, expecting: rows.first?.previous ?? 0, epoch: epoch)
            })
    }
}

/// Bytes that don't compress.
func noise(_ count: Int) -> [UInt8] {
    let source = FileHandle(forReadingAtPath: "/dev/urandom")
    return (try? source?.read(upToCount: count)).map { [UInt8]($0) } ?? []
}
