import Platform
import TestSupport
import Testing
import TimerLog

@testable import PostgresLog

/// The behaviour of PostgreSQL's directory alone: statements that are under way, servers that do not answer.
struct PostgresDirectoryTests {
    private static func join(_ directory: PostgresDirectory, _ sessions: Int64...) throws {
        for session in sessions {
            try directory.join(
                ClusterNode(session: session, url: "http://\(session)", reads: Int(BatchHeader.format)))
        }
    }

    private static func take(_ directory: PostgresDirectory, from: Int64, by session: Int64, epoch: Int64) throws
        -> TakeOutcome
    {
        try directory.take(TakeOrder(epoch: epoch, from: from, session: session, clock: 1 << 40))
    }

    /// The statement of an append as the old owner sends it; `more` is a further condition, which may keep it
    /// under way.
    private static func append(_ tail: Int64, _ head: Int64, by session: Int64 = 1, and more: String = "") -> String {
        """
        INSERT INTO timerd_log(previous, first, last, epoch, data)
        SELECT \(head), \(head) + 100, \(head) + 100, o.epoch, 'old' FROM timerd_owner o
        WHERE o.epoch = 1 AND o.session = \(session)
          AND (SELECT last FROM timerd_log WHERE previous = \(tail)) = \(head)\(more)
        """
    }

    @Test func `an append that holds the barrier's place blocks the take until its connection is ended`() throws {
        let cluster = try Cluster()
        let directory = PostgresDirectory(cluster.address)
        // The connections of a session are ended by its number, and other tests have theirs on the same server.
        let (old, new) = (Int64(9101), Int64(9102))
        try Self.join(directory, old, new)
        guard case .taken(let first) = try Self.take(directory, from: 0, by: old, epoch: 0) else {
            throw TimedOut(description: "taken")
        }
        // The append is executed, and its Sync never arrives, as the client has been stopped.
        let stopped = try cluster.connect(old)
        try stopped.execute("BEGIN; " + Self.append(0, first.position, by: old))
        try directory.leave(old)
        #expect(try Self.take(directory, from: old, by: new, epoch: 1) == .blocked)
        let view = try directory.beat(NodeBeat(session: new, promised: 0, skew: nil, isLeaving: false))
        #expect(view.owner == LogOwner(epoch: 1, session: old))
        #expect(try directory.endConnections(of: old) == 1)
        guard case .taken(let barrier) = try Self.take(directory, from: old, by: new, epoch: 1) else {
            throw TimedOut(description: "taken once the append is gone")
        }
        #expect(barrier.previous == first.position)
        #expect(try cluster.integer("SELECT count(*) FROM timerd_log WHERE data = 'old'") == 0)
    }

    @Test func `an append that read the old epoch and is inserted after the take fails`() throws {
        let cluster = try Cluster(ownDatabase: true)
        let directory = PostgresDirectory(cluster.address)
        try Self.join(directory, 1, 2)
        guard case .taken(let first) = try Self.take(directory, from: 0, by: 1, epoch: 0) else {
            throw TimedOut(description: "taken")
        }
        let old = try cluster.connect(1)
        let gate = try cluster.connect()
        try gate.execute("SELECT pg_advisory_lock(1)")
        let outcome = Guarded<Result<Int, PostgresFailure>?>(nil)
        // The snapshot is taken and the epoch read; then the statement waits at the gate, before its row is inserted.
        let sender = UncheckedSender(old)
        let sending = Background {
            let result = Result { () throws(PostgresFailure) in
                try sender.connection.run(
                    PostgresStatement(
                        "old",
                        Self.append(
                            0, first.position, and: " AND (SELECT pg_advisory_xact_lock(1)::text) IS NOT NULL")),
                    within: 30_000_000_000
                ).changed
            }
            outcome.withLock { $0 = result }
        }
        try eventually("the append waits at the gate") { try cluster.waiters() == 1 }
        try directory.leave(1)
        guard case .taken = try Self.take(directory, from: 1, by: 2, epoch: 1) else {
            throw TimedOut(description: "taken")
        }
        try gate.execute("SELECT pg_advisory_unlock(1)")
        try sending.finish("the append has ended")
        let found = outcome.withLock { $0 }
        #expect(throws: PostgresFailure.self) { try found?.get() }
        #expect(try cluster.integer("SELECT count(*) FROM timerd_log WHERE data = 'old'") == 0)
    }

    @Test func `an append that commits while the take waits for it lies before the barrier`() throws {
        let cluster = try Cluster(ownDatabase: true)
        let directory = PostgresDirectory(cluster.address)
        try Self.join(directory, 1, 2)
        guard case .taken(let first) = try Self.take(directory, from: 0, by: 1, epoch: 0) else {
            throw TimedOut(description: "taken")
        }
        let old = try cluster.connect(1)
        try old.execute("BEGIN; " + Self.append(0, first.position))
        try directory.leave(1)
        let outcome = Guarded<TakeOutcome?>(nil)
        let taking = Background { [address = cluster.address] in
            let other = PostgresDirectory(address)
            while true {
                guard let found = try? Self.take(other, from: 1, by: 2, epoch: 1), found != .blocked else { continue }
                outcome.withLock { $0 = found }
                return
            }
        }
        try eventually("the take waits") { try cluster.waiters() >= 1 }
        try old.execute("COMMIT")
        try taking.finish("the take has ended")
        guard case .taken(let barrier) = outcome.withLock({ $0 }) else { throw TimedOut(description: "taken") }
        #expect(barrier.previous == first.position + 100)
    }

    @Test func `a failure names what was under way`() throws {
        let directory = PostgresDirectory(try PostgresAddress("host=/nonexistent user=nobody dbname=none"))
        let order = TakeOrder(epoch: 1, from: 1, session: 2, clock: 1)
        let taking = #expect(throws: StoreError.self) { _ = try directory.take(order) }
        #expect(taking?.description.hasSuffix("while taking the log") == true)
        let giving = #expect(throws: StoreError.self) { _ = try directory.give(order) }
        #expect(giving?.description.hasSuffix("while giving the log to another server") == true)
    }

    @Test func `a server that does not answer is unavailable, and found again when it does`() throws {
        let server = try PostgresServer()
        let cluster = try Cluster(on: server)
        let directory = PostgresDirectory(cluster.address)
        try Self.join(directory, 1)
        let beat = NodeBeat(session: 1, promised: 0, skew: nil, isLeaving: false)
        #expect(try directory.beat(beat).isLive)
        server.stop(.immediate)
        #expect {
            try directory.beat(beat)
        } throws: {
            ($0 as? StoreError)?.kind == .unavailable
        }
        try server.start()
        try eventually("the directory is back") { (try? directory.beat(beat).isLive) == true }
        try server.pause(true)
        defer { try? server.pause(false) }
        #expect {
            try directory.beat(beat)
        } throws: {
            ($0 as? StoreError)?.kind == .unavailable
        }
    }
}

/// A connection that is handed to another thread, and not used by this one any more.
private final class UncheckedSender: @unchecked Sendable {
    let connection: PostgresConnection

    init(_ connection: PostgresConnection) { self.connection = connection }
}
