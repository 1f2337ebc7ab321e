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

    /// A log of partition 0 with rows that began epochs so many seconds ago, each followed by a row, and one at the end.
    private func epochs(_ volume: PostgresLogVolume, ages: [Int64]) throws -> [LogRow] {
        let now = (Clocks.realtime() / 1_000_000_000) << 30
        var (last, epoch): (Int64, Int64) = (0, 0)
        var rows: [LogRow] = []
        for age in ages {
            var row = stridedChain(0, after: now - age << 30)[0]
            let wanted = PartitionAppend(partition: 0, rows: [row], expecting: last, epoch: epoch)
            guard case .absent(let head) = volume.settle([wanted])[0] else {
                Issue.record("not settled")
                return []
            }
            (row.previous, row.epoch, epoch) = (head.last, head.epoch, head.epoch)
            #expect(volume.append([0: [row]], epoch: epoch) == [.durable])
            rows.append(row)
            last = row.last
        }
        let end = stridedChain(0, after: last, epoch: epoch)
        #expect(volume.append([0: end], epoch: epoch) == [.durable])
        return rows + end
    }

    /// Keys of rows whose data are gone.
    private let heldKeys = "SELECT coalesce(sum(previous), 0) FROM timerd_log WHERE part = 0 AND octet_length(data) = 0"

    @Test func `rows around one that began an epoch go at once, and its key alone stays`() throws {
        let cluster = try Cluster()
        let volume = try cluster.volume()
        let rows = try epochs(volume, ages: [1000, 20])
        let end = try #require(rows.last)
        while try volume.store(0).delete(upTo: .max) > 0 {}
        #expect(try TestSupport.rows(of: volume.store(0)) == [end])
        #expect(try cluster.integer("SELECT count(*) FROM timerd_log WHERE part = 0 AND previous >= 0") == 2)
        // The older one, and what lay between, left nothing; an append that comes late for the key finds it taken.
        #expect(try cluster.integer(heldKeys) == rows[0].last)
        #expect(throws: PostgresFailure.self) {
            try cluster.execute("INSERT INTO timerd_log VALUES (0, \(rows[0].last), 1, 1, 9, 'late')")
        }
    }

    @Test func `a key that stays taken is no row to anyone`() throws {
        let cluster = try Cluster()
        let owner = try cluster.volume()
        let rows = try epochs(owner, ages: [20, 15, 10])
        let end = try #require(rows.last)
        let all = try TestSupport.rows(of: owner.store(0))
        let barriers = all.filter { BatchHeader.kind(of: $0) == .barrier }
        #expect(barriers.count == 3)
        #expect(try owner.store(0).delete(upTo: rows[1].last) == 200)
        // The process that deleted them, and the next one, which finds them in the table.
        let heir = try cluster.volume()
        for volume in [owner, heir] {
            let reader = try volume.store(0).makeReader()
            let kept = all.filter { $0.first > rows[1].last }
            #expect(try TestSupport.rows(of: reader) == kept)
            #expect(kept.first?.previous == rows[1].last)
            for row in all where row.last <= rows[1].last {
                #expect(try reader.row(holding: row.first) == nil)
                #expect(try reader.follow(from: row.first) { _ in nil } == row.first)
                #expect(try TestSupport.rows(of: reader, from: row.first) == kept)
            }
        }
        while try heir.store(0).delete(upTo: .max) > 0 {}
        #expect(try TestSupport.rows(of: heir.store(0)) == [end])
        #expect(try cluster.integer(heldKeys) == barriers.reduce(0) { $0 + max(0, $1.previous) })
    }

    @Test func `a key goes once no append can come for it`() throws {
        let cluster = try Cluster()
        let volume = try cluster.volume()
        let rows = try epochs(volume, ages: [20])
        let store = try #require(volume.store(0) as? PostgresLogStore)
        while try store.delete(upTo: .max) > 0 {}
        #expect(store.state.withLock { $0.heldKeys.map(\.key) } == [0])
        #expect(try cluster.integer("SELECT count(*) FROM timerd_log WHERE part = 0 AND previous >= 0") == 2)
        // Ten minutes later.
        store.state.withLock { $0.heldKeys = $0.heldKeys.map { HeldKey(key: $0.key, position: 0) } }
        #expect(try store.delete(upTo: .max) == 0)
        #expect(store.state.withLock { $0.heldKeys.isEmpty })
        #expect(try cluster.integer("SELECT count(*) FROM timerd_log WHERE part = 0 AND previous >= 0") == 1)
        #expect(try TestSupport.rows(of: store) == Array(rows.suffix(1)))
    }

    @Test func `space is given back once much was deleted, and a role that may not is told`() throws {
        let cluster = try Cluster(partitions: 1, ownDatabase: true)
        let warnings = Guarded<[String]>([])
        let volume = try cluster.volume()
        var last: Int64 = 0
        for _ in 0..<6 {
            var row = stridedChain(0, after: last)[0]
            row.data = noise(1 << 20)
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
        upkeep.note(size: 1 << 30)
        upkeep.note(deleted: 64 << 20)
        try eventually("the role is told") { !warnings.value.isEmpty }
        upkeep.stop()
        #expect(warnings.value.first?.contains("vacuum") == true)
        try cluster.execute("DROP OWNED BY tenant; DROP ROLE tenant")
    }
}
