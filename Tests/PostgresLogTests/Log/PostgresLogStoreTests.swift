import Platform
import TestSupport
import Testing
import TimerLog

@testable import PostgresLog

/// The rows that a store writes, and those that it finds.
struct PostgresLogStoreTests {
    @Test func `an empty log ends at 0`() throws {
        let store = try Cluster().store()
        let head = try store.open()
        #expect(head.last == 0)
        #expect(head.epoch == 0)
        #expect(head.secret == store.secret)
        #expect(try rows(of: store) == [])
        #expect(try store.makeReader().row(holding: 0) == nil)
    }

    @Test func `batches are read back, by another process too`() throws {
        let cluster = try Cluster()
        let store = try cluster.store()
        var batches = batch(count: 3)
        #expect(store.append(batches) == .durable)
        let more = batch(after: batches[2].last, count: 2)
        #expect(store.append(more) == .durable)
        batches += more
        #expect(try rows(of: store) == batches)
        let other = try cluster.store()
        #expect(try other.open().last == more[1].last)
        #expect(try rows(of: other) == batches)
        #expect(try cluster.rowCount() == 5)
    }

    @Test func `a closed log is neither read nor written, but for who follows it, and is opened again`() throws {
        let cluster = try Cluster()
        let store = try cluster.store()
        let (reader, follower) = (try store.makeReader(), store.makeFollower())
        let written = batch(count: 2)
        #expect(store.append(written) == .durable)
        store.close()
        let next = batch(after: written[1].last)
        #expect(store.append(next) == .absent(PostgresLogStore.notOpen))
        #expect(throws: PostgresLogStore.notOpen) { try store.delete(upTo: 1) }
        #expect(throws: PostgresLogStore.notOpen) { try rows(of: reader) }
        #expect(try rows(of: follower) == written)
        try cluster.give(to: 8)
        #expect(throws: PostgresLogStore.fenced) { try store.open() }
        #expect(try rows(of: follower) == written)
        // The process took the log again, with another session.
        store.begin(session: 8)
        #expect(try store.open().last == written[1].last)
        #expect(store.append(next) == .durable)
        #expect(try rows(of: reader) == written + next)
        #expect(try cluster.integer("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'timerd:8'") >= 1)
    }
}
