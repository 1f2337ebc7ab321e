import Platform
import TestSupport
import Testing
import TimerLog

@testable import PostgresLog

/// How the tables are made, recognised and upgraded.
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
        let cluster = try Cluster(partitions: nil)
        let made = try PostgresSchema.migrate(cluster.address, partitions: 8)
        #expect(made == PostgresSchema.Migration(from: 0, to: PostgresSchema.version, partitions: 8))
        let secret = try #require(cluster.volume().secret)
        #expect(secret.count == 16)
        let again = try PostgresSchema.migrate(cluster.address, partitions: 32)
        #expect(
            again == PostgresSchema.Migration(from: PostgresSchema.version, to: PostgresSchema.version, partitions: 8))
        #expect(try cluster.volume().secret == secret)
        #expect(
            try cluster.integer("SELECT count(*) FROM timerd_log WHERE previous = -1 AND first = part AND last = part")
                == 8)
        #expect(try cluster.integer("SELECT count(*) FROM timerd_node WHERE session = 0 AND ended") == 1)
    }

    @Test func `migrations at the same time make one cluster`() throws {
        let cluster = try Cluster(partitions: nil)
        let address = cluster.address
        let made = Guarded<[PostgresSchema.Migration]>([])
        let all = (0..<6).map { _ in
            Background {
                do {
                    let one = try PostgresSchema.migrate(address, partitions: 4)
                    made.withLock { $0.append(one) }
                } catch {
                    Issue.record("\(error)")
                }
            }
        }
        for one in all { try one.finish("a migration") }
        #expect(made.value.count == 6)
        #expect(made.value.filter { $0.from == 0 }.count == 1)
        #expect(try cluster.integer("SELECT count(*) FROM timerd_log") == 4)
    }

    @Test(arguments: [0, 3, 2048, -1])
    func `a number of partitions that is no power of two up to 1024 is refused`(_ count: Int) throws {
        let cluster = try Cluster(partitions: nil)
        #expect(refusal { _ = try PostgresSchema.migrate(cluster.address, partitions: count) }?.kind == .unusable)
        #expect(refusal { _ = try PostgresLogVolume(cluster.address, session: 7) }?.kind == .unusable)
    }

    @Test func `a database without tables says what to run`() throws {
        let cluster = try Cluster(partitions: nil)
        let error = refusal { _ = try PostgresLogVolume(cluster.address, session: 7) }
        #expect(error?.kind == .unusable)
        #expect(error?.description.contains("timerd store migrate") == true)
    }

    @Test func `tables of a newer version are refused, by a migration too, and left alone`() throws {
        let cluster = try Cluster()
        try cluster.execute("UPDATE timerd_meta SET value = '99' WHERE key = 'schema'")
        for error in [
            refusal { _ = try PostgresLogVolume(cluster.address, session: 7) },
            refusal { _ = try PostgresSchema.migrate(cluster.address) },
        ] {
            #expect(error?.kind == .unusable)
            #expect(error?.description.contains("99") == true)
            #expect(error?.description.contains("newer") == true)
        }
        #expect(try cluster.integer("SELECT count(*) FROM timerd_meta WHERE key = 'schema' AND value = '99'") == 1)
    }

    @Test func `older tables are brought to the next version, or left as they were`() throws {
        let cluster = try Cluster(ownDatabase: true)
        let next = PostgresSchema.steps + [["ALTER TABLE timerd_node ADD COLUMN more int NOT NULL DEFAULT 0"]]
        let broken = PostgresSchema.steps + [["ALTER TABLE timerd_node ADD COLUMN less int", "SELECT 1 / 0"]]
        #expect(refusal { _ = try PostgresSchema.migrate(cluster.address, partitions: 4, steps: broken) } != nil)
        #expect(try cluster.integer("SELECT count(*) FROM information_schema.columns WHERE column_name = 'less'") == 0)
        let made = try PostgresSchema.migrate(cluster.address, partitions: 4, steps: next)
        #expect(made.from == PostgresSchema.version && made.to == PostgresSchema.version + 1)
        #expect(try cluster.integer("SELECT sum(more) FROM timerd_node") == 0)
        // This program is now the older one.
        #expect(refusal { _ = try PostgresLogVolume(cluster.address, session: 7) }?.kind == .unusable)
    }

    @Test func `a role that is no superuser makes and uses the tables in a schema of its own`() throws {
        let cluster = try Cluster(partitions: nil, ownDatabase: true)
        try cluster.execute("CREATE ROLE plain LOGIN; CREATE SCHEMA plain AUTHORIZATION plain")
        let address = try PostgresAddress(cluster.text.replacing("user=postgres", with: "user=plain"))
        _ = try PostgresSchema.migrate(address, partitions: 2)
        #expect(
            try cluster.integer(
                "SELECT count(*) FROM pg_tables WHERE schemaname = 'plain' AND tablename LIKE 'timerd_%'") == 4)
        try cluster.execute("UPDATE plain.timerd_partition SET session = 7")
        let volume = try PostgresLogVolume(address, session: 7)
        _ = try volume.store(1).open()
        #expect(volume.append([1: stridedChain(1)]) == [.durable])
        // A role that may not make tables is told so.
        try cluster.execute("CREATE ROLE guest LOGIN")
        let guest = try PostgresAddress(cluster.text.replacing("user=postgres", with: "user=guest"))
        #expect(refusal { _ = try PostgresSchema.migrate(guest) }?.kind == .unusable)
        try cluster.execute("DROP OWNED BY plain; DROP ROLE guest, plain")
    }
}
