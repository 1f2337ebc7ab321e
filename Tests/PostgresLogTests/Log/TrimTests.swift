import Platform
import TestSupport
import Testing
import TimerLog

@testable import PostgresLog

/// Deletion and condensing beside appends, and the space that they give back.
struct TrimTests {
    @Test func `rows are replaced by one that spans them, or not at all`() throws {
        let cluster = try Cluster()
        let store = try cluster.store()
        let rows = batch(count: 6)
        #expect(store.append(rows) == .durable)
        func span(_ from: Int, _ to: Int) -> LogRow {
            var row = rows[from]
            row.last = rows[to].last
            row.data = [7]
            return row
        }
        var crooked = span(0, 1)
        crooked.last -= 1
        for wrong in [[crooked], [span(0, 1), span(3, 5)], [span(5, 5)]] {
            #expect(throws: StoreError.self) { try store.replace(with: wrong) }
        }
        #expect(try TestSupport.rows(of: store) == rows)
        try store.replace(with: [span(0, 1), span(3, 4)])
        #expect(try TestSupport.rows(of: store) == [span(0, 1), rows[2], span(3, 4), rows[5]])
        #expect(store.append(batch(after: rows[5].last)) == .durable)
        try cluster.execute("UPDATE timerd_owner SET epoch = 3")
        #expect(throws: PostgresLogStore.fenced) {
            try cluster.execute("UPDATE timerd_owner SET session = 9")
            try store.replace(with: [span(0, 2)])
        }
        #expect(try cluster.rowCount() == 5)
    }

    @Test func `the key before which nothing is left is not looked for again`() throws {
        let cluster = try Cluster()
        let store = try cluster.store()
        let rows = batch(count: 5)
        #expect(store.append(rows) == .durable)
        #expect(try store.delete(upTo: rows[2].last) == 300)
        #expect(store.log.withLock { $0.oldest } == rows[2].last)
        #expect(try TestSupport.rows(of: store) == Array(rows[3...]))
        #expect(try store.delete(upTo: .max) == 100)
        #expect(try store.delete(upTo: .max) == 0)
        // Another process does not find the deleted rows either.
        let other = try cluster.store(9)
        #expect(try TestSupport.rows(of: other) == [rows[4]])
    }

    /// A log with rows that began epochs so many seconds ago, each followed by a row, and one at the end.
    private func epochs(_ store: PostgresLogStore, ages: [Int64]) throws -> [LogRow] {
        let now = (Clocks.realtime() / 1_000_000_000) << 30
        var (last, epoch): (Int64, Int64) = (0, 0)
        var rows: [LogRow] = []
        for age in ages {
            var row = batch(after: now - age << 30)[0]
            guard case .absent(let head) = store.settle([row], expecting: last, epoch: epoch) else {
                Issue.record("not settled")
                return []
            }
            (row.previous, row.epoch, epoch) = (head.last, head.epoch, head.epoch)
            #expect(store.append([row], epoch: epoch) == .durable)
            rows.append(row)
            last = row.last
        }
        let end = batch(after: last, epoch: epoch)
        #expect(store.append(end, epoch: epoch) == .durable)
        return rows + end
    }

    /// The sum of the keys of rows whose data are deleted.
    private let heldKeys = "SELECT coalesce(sum(previous), 0) FROM timerd_log WHERE octet_length(data) = 0"

    @Test func `rows around one that began an epoch go at once, and its key alone stays`() throws {
        let cluster = try Cluster()
        let store = try cluster.store()
        let rows = try epochs(store, ages: [1000, 20])
        let end = try #require(rows.last)
        while try store.delete(upTo: .max) > 0 {}
        #expect(try TestSupport.rows(of: store) == [end])
        #expect(try cluster.rowCount() == 2)
        // The older row that began an epoch, and the rows between, left nothing. A late append for the held key finds
        // it taken.
        #expect(try cluster.integer(heldKeys) == rows[0].last)
        #expect(throws: PostgresFailure.self) {
            try cluster.execute("INSERT INTO timerd_log VALUES (\(rows[0].last), 1, 1, 9, 'late')")
        }
    }

    @Test func `a key that stays taken is no row to anyone`() throws {
        let cluster = try Cluster()
        let owner = try cluster.store()
        let rows = try epochs(owner, ages: [20, 15, 10])
        let end = try #require(rows.last)
        let all = try TestSupport.rows(of: owner)
        let barriers = all.filter { BatchHeader.kind(of: $0) == .barrier }
        #expect(barriers.count == 3)
        #expect(try owner.delete(upTo: rows[1].last) == 200)
        // `owner` deleted the rows, and `heir` finds the held keys in the table.
        let heir = try cluster.store()
        for store in [owner, heir] {
            let reader = try store.makeReader()
            let kept = all.filter { $0.first > rows[1].last }
            #expect(try TestSupport.rows(of: reader) == kept)
            #expect(kept.first?.previous == rows[1].last)
            for row in all where row.last <= rows[1].last {
                #expect(try reader.row(holding: row.first) == nil)
                #expect(try reader.follow(from: row.first) { _ in nil } == row.first)
                #expect(try TestSupport.rows(of: reader, from: row.first) == kept)
            }
        }
        while try heir.delete(upTo: .max) > 0 {}
        #expect(try TestSupport.rows(of: heir) == [end])
        #expect(try cluster.integer(heldKeys) == barriers.reduce(0) { $0 + max(0, $1.previous) })
    }

    @Test func `a key goes once no append can come for it`() throws {
        let cluster = try Cluster()
        let store = try cluster.store()
        let rows = try epochs(store, ages: [20])
        while try store.delete(upTo: .max) > 0 {}
        #expect(store.log.withLock { $0.heldKeys.map(\.key) } == [0])
        #expect(try cluster.rowCount() == 2)
        // The held key becomes as old as after the ten minutes for which an append may come.
        store.log.withLock { $0.heldKeys = $0.heldKeys.map { HeldKey(key: $0.key, position: 0) } }
        #expect(try store.delete(upTo: .max) == 0)
        #expect(store.log.withLock { $0.heldKeys.isEmpty })
        #expect(try cluster.rowCount() == 1)
        #expect(try TestSupport.rows(of: store) == Array(rows.suffix(1)))
    }

    @Test func `space is given back once much was deleted, and a role that may not is told`() throws {
        let cluster = try Cluster(ownDatabase: true)
        let warnings = Guarded<[String]>([])
        let store = try cluster.store()
        var last: Int64 = 0
        for _ in 0..<6 {
            var row = batch(after: last)[0]
            row.data = noise(1 << 20)
            #expect(store.append([row]) == .durable)
            last = row.last
        }
        let vacuums = "SELECT coalesce(sum(vacuum_count), 0) FROM pg_stat_user_tables WHERE relname = 'timerd_log'"
        #expect(try cluster.integer(vacuums) == 0)
        #expect(store.bytesOnDisk() > 0)
        while try store.delete(upTo: .max) > 0 {}
        try eventually("the table is vacuumed") { try cluster.integer(vacuums) > 0 }
        store.disconnect()
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
