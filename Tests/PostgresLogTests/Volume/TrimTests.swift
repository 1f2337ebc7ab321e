import Platform
import TestSupport
import Testing
import TimerLog

@testable import PostgresLog

/// Deletion and condensing beside appends, and the space that they give back.
struct TrimTests {
    @Test func `rows are replaced by one that spans them, or not at all`() throws {
        let cluster = try Cluster()
        let volume = try cluster.volume()
        let rows = stridedChain(0, count: 6)
        #expect(volume.append([0: rows]) == [.durable])
        let store = volume.store(0)
        func span(_ from: Int, _ to: Int) -> LogRow {
            var row = rows[from]
            row.last = rows[to].last
            row.data = [7]
            return row
        }
        var crooked = span(0, 1)
        crooked.last -= 1024
        for wrong in [[crooked], [span(0, 1), span(3, 5)], [span(5, 5)]] {
            #expect(throws: StoreError.self) { try store.replace(with: wrong) }
        }
        #expect(try TestSupport.rows(of: store) == rows)
        try store.replace(with: [span(0, 1), span(3, 4)])
        #expect(try TestSupport.rows(of: store) == [span(0, 1), rows[2], span(3, 4), rows[5]])
        #expect(volume.append([0: stridedChain(0, after: rows[5].last)]) == [.durable])
        try cluster.execute("UPDATE timerd_partition SET epoch = 3 WHERE id = 0")
        #expect(throws: StoreError(.fenced, "partition 0 is another session's")) {
            try cluster.execute("UPDATE timerd_partition SET session = 9 WHERE id = 0")
            try store.replace(with: [span(0, 2)])
        }
        #expect(try cluster.integer("SELECT count(*) FROM timerd_log WHERE part = 0 AND previous >= 0") == 5)
    }

    @Test func `the key before which nothing is left is not looked for again`() throws {
        let cluster = try Cluster()
        let volume = try cluster.volume()
        let rows = stridedChain(2, count: 5)
        #expect(volume.append([2: rows]) == [.durable])
        #expect(try volume.store(2).delete(upTo: rows[2].last) == 300)
        let store = volume.store(2) as? PostgresLogStore
        #expect(store?.state.withLock { $0.oldest } == rows[2].last)
        #expect(try TestSupport.rows(of: volume.store(2)) == Array(rows[3...]))
        #expect(try volume.store(2).delete(upTo: .max) == 100)
        #expect(try volume.store(2).delete(upTo: .max) == 0)
        // What was deleted is gone for another process too.
        let other = try cluster.volume(9)
        #expect(try TestSupport.rows(of: other.store(2)) == [rows[4]])
    }

    @Test func `a row that begins an epoch stays for ten minutes`() throws {
        let cluster = try Cluster()
        let volume = try cluster.volume()
        let now = (Clocks.realtime() / 1_000_000_000) << 30
        var last: Int64 = 0
        for age: Int64 in [1000, 20] {
            let rows = stridedChain(0, after: now - age << 30)
            var row = rows[0]
            row.previous = last
            let epoch = try volume.store(0).open().epoch
            row.epoch = epoch
            let wanted = PartitionAppend(partition: 0, rows: [row], expecting: last, epoch: epoch)
            guard case .absent(let head) = volume.settle([wanted])[0] else {
                Issue.record("not settled")
                return
            }
            row.previous = head.last
            row.epoch = head.epoch
            #expect(volume.append([0: [row]], epoch: head.epoch) == [.durable])
            last = row.last
        }
        let end = stridedChain(0, after: last, epoch: 2)
        #expect(volume.append([0: end], epoch: 2) == [.durable])
        while try volume.store(0).delete(upTo: .max) > 0 {}
        let left = try TestSupport.rows(of: volume.store(0))
        #expect(left.map { BatchHeader.kind(of: $0) == .barrier } == [true, false, false])
    }

    @Test func `space is given back once much was deleted, and a role that may not is told`() throws {
        let cluster = try Cluster(partitions: 1, ownDatabase: true)
        let warnings = Guarded<[String]>([])
        let volume = try cluster.volume()
        var last: Int64 = 0
        for _ in 0..<18 {
            var row = stridedChain(0, after: last)[0]
            row.data = noise(4 << 20)
            #expect(volume.append([0: [row]]) == [.durable])
            last = row.last
        }
        let vacuums = "SELECT coalesce(sum(vacuum_count), 0) FROM pg_stat_user_tables WHERE relname = 'timerd_log'"
        #expect(try cluster.integer(vacuums) == 0)
        #expect(volume.bytesOnDisk() > 0)
        while try volume.store(0).delete(upTo: .max) > 0 {}
        try eventually("the table is vacuumed") { try cluster.integer(vacuums) > 0 }
        volume.close()
        try cluster.execute("CREATE ROLE tenant LOGIN; GRANT ALL ON ALL TABLES IN SCHEMA public TO tenant")
        let address = try PostgresAddress(cluster.text.replacing("user=postgres", with: "user=tenant"))
        let upkeep = LogUpkeep(address, session: 1, PostgresTimeouts()) { warning in
            warnings.withLock { $0.append(warning) }
        }
        upkeep.note(deleted: 64 << 20)
        try eventually("the role is told") { !warnings.value.isEmpty }
        upkeep.stop()
        #expect(warnings.value.first?.contains("vacuum") == true)
        try cluster.execute("DROP OWNED BY tenant; DROP ROLE tenant")
    }
}
