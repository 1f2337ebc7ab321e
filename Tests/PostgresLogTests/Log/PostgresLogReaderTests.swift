import Testing
import TimerLog

@testable import PostgresLog

/// The round trips that reads take.
struct PostgresLogReaderTests {
    /// Calls `body` with a reader of a log of `rows`, and the log's store.
    private func read<Result>(
        _ rows: [LogRow], _ body: (any LogReader, PostgresLogStore) throws -> Result
    ) throws -> Result {
        let cluster = try Cluster()
        let store = try cluster.store()
        #expect(store.append(rows) == .durable)
        let other = try PostgresLogStore(cluster.address, session: 8)
        defer { other.disconnect() }
        return try body(other.makeFollower(), other)
    }

    /// The number of times that the connection of the readers ran the statement.
    private func runs(_ statement: PostgresStatement, _ store: PostgresLogStore) throws -> Int64 {
        try store.readers.use { connection throws(PostgresFailure) in
            try connection.run(
                PostgresStatement(
                    "test_runs",
                    "SELECT generic_plans + custom_plans FROM pg_prepared_statements WHERE name = '\(statement.name)'")
            )
            .integer(0, 0)
        }
    }

    /// Follows links that each pass `step` rows. Returns the number of rows found, and that of round trips.
    private func follow(_ rows: [LogRow], step: Int) throws -> (found: Int, trips: Int64) {
        try read(rows) { reader, store in
            var index = rows.count - 1
            var found = 0
            let ended = try reader.follow(from: rows[index].first) { row in
                #expect(row == rows[index])
                found += 1
                index -= step
                return index < 0 ? nil : rows[index].last
            }
            #expect(ended == nil)
            return (found, try runs(LogStatements.pageBack, store))
        }
    }

    @Test func `short links are followed by pages`() throws {
        let (found, trips) = try follow(batch(count: 3000, width: 1), step: 1)
        #expect(found == 3000)
        // Pages of 1, 8, 64 rows, then 256 each.
        #expect(trips == 15)
        let apart = try follow(batch(count: 3000, width: 3), step: 10)
        #expect(apart.found == 300)
        #expect(apart.trips < 20)
    }

    @Test func `long links are followed row by row`() throws {
        let (found, trips) = try follow(batch(count: 3000), step: 150)
        #expect(found == 20)
        #expect(trips == 20)
    }

    @Test func `pages of large rows are bounded in bytes`() throws {
        let rows = batch(count: 40, width: 1).map { row in
            var row = row
            row.data = noise(100_000)
            return row
        }
        let (found, trips) = try follow(rows, step: 1)
        #expect(found == 40)
        // Pages of 1, 8, and then 11 rows, which begin within a mebibyte.
        #expect(trips == 5)
    }
}
