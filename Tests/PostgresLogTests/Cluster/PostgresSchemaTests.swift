import Platform
import TestSupport
import Testing
import TimerLog

@testable import PostgresLog

/// The tables: how they are made and recognised.
struct PostgresSchemaTests {
    private func refusal(_ body: () throws -> Void) -> StoreError? {
        do {
            try body()
            return nil
        } catch {
            return error as? StoreError
        }
    }

    @Test func `a migration makes the tables, and a second one keeps what is there`() throws {
        let cluster = try Cluster(isMigrated: false)
        #expect(try PostgresSchema.migrate(cluster.address) == PostgresSchema.Migration(from: 0, to: 3))
        let secret = try #require(cluster.store().secret)
        #expect(secret.count == 16)
        #expect(try PostgresSchema.migrate(cluster.address) == PostgresSchema.Migration(from: 3, to: 3))
        #expect(try cluster.store().secret == secret)
        #expect(
            try cluster.integer("SELECT count(*) FROM timerd_log WHERE previous = -1 AND first = 0 AND last = 0") == 1)
        #expect(try cluster.integer("SELECT count(*) FROM timerd_node WHERE session = 0 AND ended") == 1)
        #expect(try cluster.integer("SELECT count(*) FROM timerd_owner WHERE epoch = 0") == 1)
        // The table takes no second owner.
        for single in ["true", "false"] {
            #expect(throws: PostgresFailure.self) {
                try cluster.execute("INSERT INTO timerd_owner VALUES (\(single), 0, 0)")
            }
        }
    }

    @Test func `a migration that fails leaves nothing`() throws {
        let cluster = try Cluster(isMigrated: false)
        try cluster.execute("CREATE TABLE timerd_log(other int)")
        #expect(refusal { _ = try PostgresSchema.migrate(cluster.address) } != nil)
        let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename LIKE 'timerd_%'"
        #expect(try cluster.integer(tables) == 1)
    }

    @Test func `migrations at the same time make one cluster`() throws {
        let cluster = try Cluster(isMigrated: false)
        let address = cluster.address
        let made = Guarded<[PostgresSchema.Migration]>([])
        let all = (0..<6).map { _ in
            Background {
                do {
                    let one = try PostgresSchema.migrate(address)
                    made.withLock { $0.append(one) }
                } catch {
                    Issue.record("\(error)")
                }
            }
        }
        for one in all { try one.finish("a migration") }
        #expect(made.value.count == 6)
        #expect(made.value.filter { $0.from == 0 }.count == 1)
        #expect(try cluster.integer("SELECT count(*) FROM timerd_log") == 1)
    }

    @Test func `a database without tables says what to run`() throws {
        let cluster = try Cluster(isMigrated: false)
        let error = refusal { _ = try PostgresLogStore(cluster.address, session: 7) }
        #expect(error?.kind == .unusable)
        #expect(error?.description.contains("timerd store migrate") == true)
    }

    @Test func `tables of a newer version are refused, by a migration too, and left alone`() throws {
        let cluster = try Cluster()
        try cluster.execute("UPDATE timerd_meta SET value = '99' WHERE key = 'schema'")
        for error in [
            refusal { _ = try PostgresLogStore(cluster.address, session: 7) },
            refusal { _ = try PostgresSchema.migrate(cluster.address) },
        ] {
            #expect(error?.kind == .unusable)
            #expect(error?.description.contains("99") == true)
            #expect(error?.description.contains("newer") == true)
        }
        #expect(try cluster.integer("SELECT count(*) FROM timerd_meta WHERE key = 'schema' AND value = '99'") == 1)
    }

    @Test(arguments: [1, 2])
    func `tables of an earlier design are refused with the way out, and left alone`(_ version: Int) throws {
        let cluster = try Cluster(isMigrated: false)
        try cluster.execute(
            """
            CREATE TABLE timerd_meta(key text PRIMARY KEY, value bytea NOT NULL);
            INSERT INTO timerd_meta VALUES ('schema', '\(version)'), ('partitions', '64'), ('stride', '1024');
            CREATE TABLE timerd_partition(id int PRIMARY KEY, epoch bigint NOT NULL, session bigint NOT NULL)
            """)
        for error in [
            refusal { _ = try PostgresLogStore(cluster.address, session: 7) },
            refusal { _ = try PostgresSchema.migrate(cluster.address) },
        ] {
            #expect(error?.kind == .unusable)
            for word in ["version \(version)", "timerd export", "timerd import"] {
                #expect(error?.description.contains(word) == true)
            }
        }
        #expect(try cluster.integer("SELECT count(*) FROM timerd_meta") == 3)
    }

    @Test func `a role that is no superuser makes and uses the tables in a schema of its own`() throws {
        let cluster = try Cluster(isMigrated: false, ownDatabase: true)
        try cluster.execute("CREATE ROLE plain LOGIN; CREATE SCHEMA plain AUTHORIZATION plain")
        let address = try PostgresAddress(cluster.text.replacing("user=postgres", with: "user=plain"))
        _ = try PostgresSchema.migrate(address)
        #expect(
            try cluster.integer(
                "SELECT count(*) FROM pg_tables WHERE schemaname = 'plain' AND tablename LIKE 'timerd_%'") == 4)
        try cluster.execute("UPDATE plain.timerd_owner SET session = 7")
        let store = try PostgresLogStore(address, session: 7)
        _ = try store.open()
        #expect(store.append(batch()) == .durable)
        // A role that may not make tables is refused.
        try cluster.execute("CREATE ROLE guest LOGIN")
        let guest = try PostgresAddress(cluster.text.replacing("user=postgres", with: "user=guest"))
        #expect(refusal { _ = try PostgresSchema.migrate(guest) }?.kind == .unusable)
        try cluster.execute("DROP OWNED BY plain; DROP ROLE guest, plain")
    }
}
