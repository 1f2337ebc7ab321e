import Platform
import TestSupport
import Testing
import TimerLog

@testable import PostgresLog

/// The promises of an append: rows that are called durable are committed, rows that are called absent never come, and
/// nothing else is written by a process that does not own the log.
struct AppendRuleTests {
    private func kind(_ outcome: AppendOutcome) -> StoreError.Kind? {
        switch outcome {
        case .absent(let error), .unknown(let error), .diverged(let error): error.kind
        default: nil
        }
    }

    @Test func `an append is one statement, and uses neither advisory locks nor notifications`() throws {
        let cluster = try ownCluster(["log_statement=all"])
        let store = try cluster.store()
        let before = cluster.server.log.count
        #expect(store.append(batch(count: 3)) == .durable)
        let statements = cluster.server.log.dropFirst(before).split(separator: "\n").filter {
            $0.contains("LOG:  execute") || $0.contains("LOG:  statement")
        }
        #expect(statements.count == 1)
        #expect(statements.first?.contains("execute timerd_append") == true)
        _ = try store.delete(upTo: 1 << 40)
        _ = store.settle(batch(after: 50_000))
        let directory = PostgresDirectory(cluster.address)
        try directory.join(ClusterNode(session: 9, url: "http://9", reads: Int(BatchHeader.format)))
        _ = try directory.beat(NodeBeat(session: 9, promised: 1, skew: nil, isLeaving: false))
        _ = try directory.take(TakeOrder(epoch: 1, from: 7, session: 9, clock: 1 << 40))
        let all = cluster.server.log.lowercased()
        for word in ["pg_advisory", "listen ", "notify ", "for update", "for share"] { #expect(!all.contains(word)) }
    }

    @Test func `a commit that fails behind the statement is no success`() throws {
        let cluster = try Cluster(ownDatabase: true)
        try cluster.execute(
            """
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
              $$ BEGIN RAISE EXCEPTION 'not today' USING ERRCODE = 'disk_full'; END $$;
            CREATE CONSTRAINT TRIGGER late AFTER INSERT ON timerd_log DEFERRABLE INITIALLY DEFERRED
              FOR EACH ROW WHEN (NEW.last > 100) EXECUTE FUNCTION refuse()
            """)
        let store = try cluster.store()
        let rows = batch()
        #expect(store.append(rows) == .durable)
        let outcome = store.append(batch(after: rows[0].last, width: 200))
        guard case .absent(let error) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(error.kind == .full)
        #expect(store.append(batch(after: rows[0].last, width: 2)) == .durable)
    }

    @Test func `a wait for the standby that somebody cancels leaves it open, and what is read then is replicated`()
        throws
    {
        let cluster = try ownCluster()
        let store = try cluster.store(7, .hasty)
        let first = batch()
        #expect(store.append(first) == .durable)
        let admin = try cluster.connect()
        try admin.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
        try admin.execute("SELECT pg_reload_conf()")
        try eventually("the server waits for a standby") {
            try cluster.integer("SELECT (current_setting('synchronous_standby_names') = 'nobody')::int") == 1
        }
        let rows = batch(after: first[0].last)
        let outcome = Guarded<AppendOutcome?>(nil)
        let append = Background {
            let made = store.append(rows)
            outcome.withLock { $0 = made }
        }
        let waiting = "FROM pg_stat_activity WHERE application_name = 'timerd:7' AND wait_event = 'SyncRep'"
        try eventually("the append waits for its standby") { try cluster.integer("SELECT count(*) \(waiting)") == 1 }
        try admin.execute("SELECT pg_cancel_backend(pid) \(waiting)")
        try append.finish("the append")
        guard case .unknown = outcome.value else {
            Issue.record("a cancelled wait is \(String(describing: outcome.value))")
            return
        }
        // The row is in the table for everyone to see, and may still be lost with this server.
        #expect(try cluster.rowCount() == 2)
        guard case .unknown = store.settle(rows) else {
            Issue.record("settled without the standby")
            return
        }
        try admin.execute("ALTER SYSTEM RESET synchronous_standby_names")
        try admin.execute("SELECT pg_reload_conf()")
        try eventually("the server waits for nobody") {
            try cluster.integer("SELECT (current_setting('synchronous_standby_names') = '')::int") == 1
        }
        guard case .landed(let head) = store.settle(rows) else {
            Issue.record("not settled")
            return
        }
        #expect(head.epoch >= 1)
        let next = batch(after: head.last, epoch: head.epoch)
        #expect(store.append(next, epoch: head.epoch) == .durable)
    }

    @Test(arguments: ["epoch = 1", "session = 8"])
    func `another session or epoch is fenced, for appends, deletions and open`(_ change: String) throws {
        let cluster = try Cluster()
        let store = try cluster.store()
        let rows = batch(count: 3)
        #expect(store.append(rows) == .durable)
        try cluster.execute("UPDATE timerd_owner SET \(change)")
        #expect(throws: StoreError.self) { try store.delete(upTo: rows[1].last) }
        #expect(try cluster.rowCount() == 3)
        let more = batch(after: rows[2].last)
        #expect(store.append(more) == .fenced)
        #expect(store.append(more) == .absent(PostgresLogStore.notOpen))
        #expect(try cluster.rowCount() == 3)
        guard change == "session = 8" else { return }
        #expect(throws: PostgresLogStore.fenced) { try store.open() }
        #expect(store.settle(more) == .fenced)
    }

    @Test func `a log that lost its end is noticed`() throws {
        let cluster = try Cluster()
        let store = try cluster.store()
        let rows = batch(count: 3)
        #expect(store.append(rows) == .durable)
        try cluster.execute("DELETE FROM timerd_log WHERE previous = \(rows[2].previous)")
        #expect(throws: StoreError.self) { try store.delete(upTo: rows[0].last) }
        let more = batch(after: rows[2].last)
        let outcome = store.append(more)
        #expect(outcome.isDiverged)
        #expect(kind(outcome) == .lost)
        guard case .diverged(let error) = store.settle(more) else {
            Issue.record("a settlement did not notice")
            return
        }
        #expect(error.kind == .lost)
    }

    @Test func `an append that finds its key taken is refused, and says where the log ends`() throws {
        let cluster = try Cluster(ownDatabase: true)
        let store = try cluster.store()
        let other = try cluster.connect()
        try other.execute("BEGIN")
        try other.execute("INSERT INTO timerd_log VALUES (0, 2, 2, 0, '')")
        let outcome = Guarded<AppendOutcome?>(nil)
        let append = Background {
            let made = store.append(batch())
            outcome.withLock { $0 = made }
        }
        try eventually("the append waits for the key") { try cluster.waiters() == 1 }
        try other.execute("COMMIT")
        try append.finish("the append")
        #expect(outcome.value == .diverged(StoreError(.io, "the log ends at position 2, not at 0")))
        #expect(try cluster.rowCount() == 1)
    }

    @Test func `an executed append whose end never came is ended, and is absent for good`() throws {
        let cluster = try Cluster()
        let proxy = try CuttingProxy(to: cluster.server)
        defer { proxy.stop() }
        let via = try PostgresAddress(cluster.text.replacing(cluster.server.folder, with: proxy.folder))
        let store = try cluster.store(7, .hasty, via: via)
        let first = batch()
        #expect(store.append(first) == .durable)
        proxy.reset()
        let second = batch(after: first[0].last)
        #expect(store.append(second) == .durable)
        let third = batch(after: second[0].last)
        // The server gets all but the five bytes of the Sync message.
        proxy.plan(.toServer, after: proxy.passed(.toServer) - 5, .halfOpen)
        guard case .unknown = store.append(third) else {
            Issue.record("an append without its end")
            return
        }
        try eventually("the append has been executed") {
            try cluster.integer(
                "SELECT count(*) FROM pg_locks WHERE locktype = 'relation' AND mode = 'RowExclusiveLock' AND relation = 'timerd_log'::regclass"
            ) == 1
        }
        guard case .absent(let head) = store.settle(third) else {
            Issue.record("not settled")
            return
        }
        #expect(head.epoch == 1)
        #expect(head.last > second[0].last && head.last < third[0].first)
        var again = third
        again[0].previous = head.last
        again[0].epoch = head.epoch
        #expect(store.append(again, epoch: head.epoch) == .durable)
        #expect(try rows(of: store).filter { $0.first == third[0].first }.count == 1)
    }

    @Test func `a batch may be settled as often as there is room before it, then it is to be folded anew`() throws {
        let cluster = try Cluster()
        let store = try cluster.store()
        var rows = batch()
        var epoch: Int64 = 0
        for _ in 0..<AppendRules.settlements {
            guard case .absent(let head) = store.settle(rows, epoch: epoch) else {
                Issue.record("no room at epoch \(epoch)")
                return
            }
            #expect(head.last > rows[0].previous && head.last < rows[0].first)
            #expect(head.epoch == epoch + 1)
            rows[0].previous = head.last
            rows[0].epoch = head.epoch
            epoch = head.epoch
        }
        guard case .diverged = store.settle(rows, epoch: epoch) else {
            Issue.record("there was room once more")
            return
        }
        let head = try store.open()
        #expect(
            store.append(batch(after: head.last, epoch: head.epoch), epoch: head.epoch) == .durable)
    }

    @Test func `nothing is appended before an unknown append is settled, and open settles it too`() throws {
        let cluster = try Cluster()
        let proxy = try CuttingProxy(to: cluster.server)
        defer { proxy.stop() }
        let via = try PostgresAddress(cluster.text.replacing(cluster.server.folder, with: proxy.folder))
        let store = try cluster.store(7, .hasty, via: via)
        let first = batch()
        #expect(store.append(first) == .durable)
        proxy.plan(.toClient, after: 1)
        let second = batch(after: first[0].last)
        guard case .unknown = store.append(second) else {
            Issue.record("the answer was cut")
            return
        }
        #expect(kind(store.append(second)) == .unavailable)
        let head = try store.open()
        #expect(head.epoch == 1)
        #expect(head.last == second[0].last + 1)
        #expect(try rows(of: store).count == 3)
    }

    @Test func `an append that ends after its log was taken again changes nothing of the log that is open`() throws {
        let cluster = try Cluster(ownDatabase: true)
        let store = try cluster.store()
        let first = batch()
        #expect(store.append(first) == .durable)
        let other = try cluster.connect()
        // Readers are let through, and appends wait.
        try other.execute("BEGIN; LOCK TABLE timerd_log IN SHARE MODE")
        let outcome = Guarded<AppendOutcome?>(nil)
        let append = Background {
            let made = store.append(batch(after: first[0].last))
            outcome.withLock { $0 = made }
        }
        try eventually("the append waits") { try cluster.waiters() == 1 }
        store.close()
        try cluster.execute("UPDATE timerd_owner SET session = 8, epoch = epoch + 1")
        try cluster.execute("UPDATE timerd_owner SET session = 7, epoch = epoch + 1")
        let head = try store.open()
        try other.execute("SELECT pg_terminate_backend(pid) \(Cluster.waiting)")
        try append.finish("the append")
        guard case .unknown = outcome.value else {
            Issue.record("a cut append is \(String(describing: outcome.value))")
            return
        }
        try other.execute("COMMIT")
        #expect(store.append(batch(after: head.last, epoch: head.epoch), epoch: head.epoch) == .durable)
    }
}
