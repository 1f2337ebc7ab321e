import Platform
import TestSupport
import Testing
import TimerLog

@testable import PostgresLog

/// The demands of a connection on the server, and its failures.
struct PostgresConnectionTests {
    private func failure(_ address: PostgresAddress, _ timeouts: PostgresTimeouts = PostgresTimeouts())
        -> PostgresFailure?
    {
        do throws(PostgresFailure) {
            _ = try PostgresConnection.open(address, for: .init(session: 1), timeouts)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a connection to a server that takes no writes any more is given up`() throws {
        let cluster = try Cluster()
        let link = PostgresLink(cluster.address, for: .init(session: 1))
        func write() throws(PostgresFailure) -> Int32 {
            try link.use { connection throws(PostgresFailure) in
                try connection.execute("UPDATE timerd_owner SET session = 5")
                return connection.backend
            }
        }
        let first = try write()
        _ = try link.use { connection throws(PostgresFailure) in
            try connection.execute("SET default_transaction_read_only = on")
        }
        do throws(PostgresFailure) {
            _ = try write()
            Issue.record("the connection takes writes")
        } catch { #expect(error.state == "25006" && error.isCertain) }
        #expect(try write() != first)
    }

    @Test func `a session has its settings, whatever role and database have`() throws {
        let cluster = try Cluster(ownDatabase: true)
        let name = cluster.text.split(separator: "dbname=")[1]
        for setting in [
            "synchronous_commit = off", "client_min_messages = error", "plan_cache_mode = force_custom_plan",
            "enable_seqscan = on", "enable_bitmapscan = on", "enable_hashjoin = on", "enable_mergejoin = on",
            "jit = on",
            "default_transaction_isolation = 'serializable'", "statement_timeout = 4321", "lock_timeout = 4321",
        ] { try cluster.execute("ALTER DATABASE \(name) SET \(setting)") }
        let connection = try PostgresConnection.open(cluster.address, for: .init(session: -5))
        let settings = try connection.run(
            PostgresStatement(
                "settings",
                """
                SELECT current_setting('synchronous_commit'), current_setting('client_min_messages'),
                  current_setting('plan_cache_mode'), current_setting('enable_seqscan'),
                  current_setting('transaction_isolation'), current_setting('statement_timeout'),
                  current_setting('lock_timeout'), current_setting('application_name')
                """))
        let found = (0..<8).map { settings.text(0, $0) }
        #expect(found == ["on", "warning", "force_generic_plan", "off", "read committed", "5s", "0", "timerd:-5"])
        // The settings allow plans by index alone.
        let off = "name IN ('enable_bitmapscan', 'enable_hashjoin', 'enable_mergejoin', 'jit') AND setting = 'off'"
        let count = PostgresStatement("plans", "SELECT count(*)::bigint FROM pg_settings WHERE \(off)")
        #expect(try connection.run(count).integer(0, 0) == 4)
    }

    @Test func `commits wait for what is read on the standby, where that was set`() throws {
        let cluster = try Cluster(ownDatabase: true)
        let name = cluster.text.split(separator: "dbname=")[1]
        try cluster.execute("ALTER DATABASE \(name) SET synchronous_commit = remote_apply")
        let shown = try cluster.connect().run(PostgresStatement("one", "SELECT current_setting('synchronous_commit')"))
        #expect(shown.text(0, 0) == "remote_apply")
    }

    @Test func `values of each type come back as they went`() throws {
        let connection = try Cluster(isMigrated: false).connect()
        let statement = PostgresStatement(
            "values",
            """
            SELECT $1::bool, $2::int, $3::bigint, $4::text, $5::bytea, array_length($6::int[], 1), ($7::bigint[])[2],
              ($8::bytea[])[1], $9::bigint, cardinality($10::bigint[])
            """)
        let result = try connection.run(
            statement,
            [
                .bool(true), .int4(-7), .int8(.min), .text("zoë"), .bytes([]), .int4s([1, 2, 3]), .int8s([1, -2]),
                .byteArrays([[0, 255]]), .null, .int8s([]),
            ])
        #expect(result.bool(0, 0))
        #expect(result.integer(0, 1) == -7)
        #expect(result.integer(0, 2) == .min)
        #expect(result.text(0, 3) == "zoë")
        #expect(result.bytes(0, 4) == [] && !result.isNull(0, 4))
        #expect(result.integer(0, 5) == 3)
        #expect(result.integer(0, 6) == -2)
        #expect(result.bytes(0, 7) == [0, 255])
        #expect(result.isNull(0, 8))
        #expect(result.integer(0, 9) == 0)
    }

    @Test func `a refused connection tells why, and of what kind that is`() throws {
        let cluster = try Cluster(isMigrated: false)
        let there = cluster.server.folder
        let missing = failure(try PostgresAddress("host=\(there) user=postgres dbname=nowhere"))
        #expect(missing?.state == "3D000")
        #expect(missing?.kind == .unusable)
        #expect(missing?.isCertain == true)
        #expect(failure(try PostgresAddress("host=\(there)/none user=postgres"))?.kind == .unavailable)
        try cluster.execute("CREATE ROLE crowded LOGIN CONNECTION LIMIT 0")
        let crowded = failure(try PostgresAddress("host=\(there) user=crowded dbname=postgres"))
        #expect(crowded?.state == "53300")
        #expect(crowded?.kind == .unavailable)
        try cluster.execute("DROP ROLE crowded")
        let nobody = failure(try PostgresAddress("host=\(there) user=nobody-there dbname=postgres", password: "nobody"))
        #expect(nobody?.kind == .unusable)
        #expect(nobody?.description.contains("nobody") == false)
    }

    @Test func `the second host is asked where the first takes no writes`() throws {
        let cluster = try Cluster(ownDatabase: true)
        let name = cluster.text.split(separator: "dbname=")[1]
        let hosts = "host=\(cluster.server.folder)/none,\(cluster.server.folder) user=postgres dbname=\(name)"
        #expect(failure(try PostgresAddress(hosts)) == nil)
        try cluster.execute("ALTER DATABASE \(name) SET default_transaction_read_only = on")
        let failure = failure(cluster.address)
        #expect(failure?.kind == .unavailable)
        #expect(failure?.description.contains("read-only") == true)
    }

    @Test func `a statement that takes too long ends with its connection, and may have been committed`() throws {
        let connection = try Cluster(isMigrated: false).connect()
        do {
            try connection.execute("SELECT pg_sleep(60)", within: 20_000_000)
            Issue.record("it was waited for")
        } catch {
            #expect(!error.isCertain)
            #expect(error.kind == .unavailable)
        }
        #expect(!connection.isAlive())
    }

    @Test func `an interrupt ends the wait for a statement`() throws {
        let cluster = try Cluster(isMigrated: false)
        let interrupt = EventFD()
        let connection = try PostgresConnection.open(
            cluster.address, for: .init(session: 1, statementTimeout: 0, interrupt: interrupt))
        interrupt.signal()
        #expect(throws: PostgresFailure.self) { try connection.execute("SELECT pg_sleep(60)", within: 60_000_000_000) }
    }

    @Test func `an error of the server leaves the connection as it was`() throws {
        let connection = try Cluster(isMigrated: false).connect()
        do {
            try connection.execute("SELECT 1 / 0")
            Issue.record("a division by zero")
        } catch {
            #expect(error.isCertain)
            #expect(error.state == "22012")
        }
        #expect(connection.isAlive() && connection.isIdle)
        try connection.execute("SELECT 1")
    }

    @Test(arguments: [
        ("53100", StoreError.Kind.full), ("57P01", .unavailable), ("57P03", .unavailable), ("08006", .unavailable),
        ("53300", .unavailable), ("25006", .unavailable), ("40001", .unavailable), ("XX001", .damaged),
        ("28P01", .unusable), ("42P01", .unusable), ("58030", .io), ("22012", .io),
    ])
    func `an SQLSTATE is one kind of trouble`(_ state: String, _ kind: StoreError.Kind) {
        #expect(PostgresFailure("x", state: state, isCertain: true).kind == kind)
    }

    @Test func `two connections with one backend are those of a pooler of transactions`() throws {
        let cluster = try Cluster()
        let (one, other) = (try cluster.connect(), try cluster.connect())
        try PoolerCheck.verify(one, other)
        do throws(PostgresFailure) {
            try PoolerCheck.verify(one, one)
            Issue.record("one backend for two connections")
        } catch {
            #expect(error.kind == .unusable)
            #expect(error.description.contains("pooler"))
        }
    }
}
