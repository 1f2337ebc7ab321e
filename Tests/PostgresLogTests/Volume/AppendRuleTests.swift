import Platform
import TestSupport
import Testing
import TimerLog

@testable import PostgresLog

/// What an append promises: what is called durable is committed, what is called absent never comes, and nothing else is written
/// by somebody who does not own the partition.
struct AppendRuleTests {
    /// Statements that are given up soon.
    private static var hasty: PostgresTimeouts {
        var timeouts = PostgresTimeouts()
        timeouts.statement = 1_000_000_000
        timeouts.lock = 100_000_000
        return timeouts
    }

    private func kind(_ outcome: AppendOutcome?) -> StoreError.Kind? {
        switch outcome {
        case .absent(let error), .unknown(let error), .diverged(let error): error.kind
        default: nil
        }
    }

    @Test func `an append is one statement, and uses neither advisory locks nor notifications`() throws {
        let cluster = try ownCluster(["log_statement=all"])
        let volume = try cluster.volume()
        let before = cluster.server.log.count
        #expect(
            volume.append([0: stridedChain(0), 1: stridedChain(1), 2: stridedChain(2)]) == [
                .durable, .durable, .durable,
            ])
        let statements = cluster.server.log.dropFirst(before).split(separator: "\n").filter {
            $0.contains("LOG:  execute") || $0.contains("LOG:  statement")
        }
        #expect(statements.count == 1)
        #expect(statements.first?.contains("execute timerd_append") == true)
        _ = try volume.store(0).delete(upTo: 1 << 40)
        _ = volume.settle([
            PartitionAppend(partition: 0, rows: stridedChain(0, after: 50_000), expecting: 50_000, epoch: 0)
        ])
        let directory = PostgresDirectory(cluster.address)
        try directory.join(ClusterNode(session: 9, url: "http://9", reads: Int(BatchHeader.format)))
        _ = try directory.beat(NodeBeat(session: 9, promised: 1, skew: nil, isLeaving: false))
        _ = try directory.take(TakeOrder(partition: 1, epoch: 0, from: 7, session: 9, clock: 1 << 40))
        _ = try directory.owners()
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
              FOR EACH ROW WHEN (NEW.last > 100000) EXECUTE FUNCTION refuse()
            """)
        let volume = try cluster.volume()
        let rows = stridedChain(0)
        #expect(volume.append([0: rows]) == [.durable])
        let outcome = volume.append([0: stridedChain(0, after: rows[0].last, width: 200)]).first
        guard case .absent(let error) = outcome else {
            Issue.record("\(String(describing: outcome))")
            return
        }
        #expect(error.kind == .full)
        #expect(volume.append([0: stridedChain(0, after: rows[0].last, width: 2)]) == [.durable])
    }

    @Test func `a wait for the standby that somebody cancels leaves it open, and what is read then is replicated`()
        throws
    {
        let cluster = try ownCluster()
        let volume = try cluster.volume(7, Self.hasty)
        let first = stridedChain(0)
        #expect(volume.append([0: first]) == [.durable])
        let admin = try cluster.connect()
        try admin.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
        try admin.execute("SELECT pg_reload_conf()")
        try eventually("the server waits for a standby") {
            try cluster.integer("SELECT (current_setting('synchronous_standby_names') = 'nobody')::int") == 1
        }
        let rows = stridedChain(0, after: first[0].last)
        let outcome = Guarded<AppendOutcome?>(nil)
        let append = Background {
            let made = volume.append([0: rows]).first
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
        // It is in the table for everyone to see, and may still be lost with this server.
        #expect(try cluster.integer("SELECT count(*) FROM timerd_log WHERE part = 0 AND previous >= 0") == 2)
        let wanted = [PartitionAppend(partition: 0, rows: rows, expecting: first[0].last, epoch: 0)]
        guard case .unknown = volume.settle(wanted).first else {
            Issue.record("settled without the standby")
            return
        }
        try admin.execute("ALTER SYSTEM RESET synchronous_standby_names")
        try admin.execute("SELECT pg_reload_conf()")
        try eventually("the server waits for nobody") {
            try cluster.integer("SELECT (current_setting('synchronous_standby_names') = '')::int") == 1
        }
        guard case .landed(let head) = volume.settle(wanted).first else {
            Issue.record("not settled")
            return
        }
        #expect(head.epoch >= 1)
        let next = stridedChain(0, after: head.last, epoch: head.epoch)
        #expect(volume.append([0: next], epoch: head.epoch) == [.durable])
    }

    @Test func `another session or epoch is fenced, for appends, deletions and open`() throws {
        let cluster = try Cluster()
        let volume = try cluster.volume()
        let rows = stridedChain(0, count: 3)
        #expect(volume.append([0: rows, 1: stridedChain(1)]) == [.durable, .durable])
        try cluster.execute("UPDATE timerd_partition SET epoch = 1 WHERE id = 0")
        try cluster.execute("UPDATE timerd_partition SET session = 8 WHERE id = 1")
        #expect(throws: StoreError.self) { try volume.store(0).delete(upTo: rows[1].last) }
        #expect(try cluster.integer("SELECT count(*) FROM timerd_log WHERE part = 0 AND previous >= 0") == 3)
        let more = [0: stridedChain(0, after: rows[2].last), 1: stridedChain(1, after: stridedChain(1)[0].last)]
        #expect(volume.append(more) == [.fenced, .fenced])
        #expect(try cluster.integer("SELECT count(*) FROM timerd_log WHERE previous >= 0") == 4)
        #expect(throws: StoreError(.fenced, "partition 1 is another session's")) { try volume.store(1).open() }
        #expect(
            volume.settle([PartitionAppend(partition: 1, rows: more[1] ?? [], expecting: 0, epoch: 0)]) == [.fenced])
    }

    @Test func `a log that lost its end is noticed`() throws {
        let cluster = try Cluster()
        let volume = try cluster.volume()
        let rows = stridedChain(0, count: 3)
        #expect(volume.append([0: rows]) == [.durable])
        try cluster.execute("DELETE FROM timerd_log WHERE part = 0 AND previous = \(rows[2].previous)")
        #expect(throws: StoreError.self) { try volume.store(0).delete(upTo: rows[0].last) }
        let outcome = volume.append([0: stridedChain(0, after: rows[2].last), 1: stridedChain(1)])
        #expect(outcome.first?.isDiverged == true)
        #expect(kind(outcome.first) == .lost)
        #expect(outcome.last == .durable)
        let wanted = PartitionAppend(
            partition: 0, rows: stridedChain(0, after: rows[2].last), expecting: rows[2].last, epoch: 0)
        guard case .diverged(let error) = volume.settle([wanted]).first else {
            Issue.record("a settlement did not notice")
            return
        }
        #expect(error.kind == .lost)
    }

    @Test func `a row in the way of one partition leaves the others of a joint append alone`() throws {
        let cluster = try Cluster(ownDatabase: true)
        let volume = try cluster.volume()
        let other = try cluster.connect()
        try other.execute("BEGIN")
        try other.execute("INSERT INTO timerd_log VALUES (1, 1, 2049, 2049, 0, '')")
        let outcome = Guarded<[AppendOutcome]>([])
        let append = Background {
            let made = volume.append([0: stridedChain(0), 1: stridedChain(1), 2: stridedChain(2)])
            outcome.withLock { $0 = made }
        }
        try eventually("the append waits for the key") {
            try cluster.integer(
                "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'timerd:7' AND wait_event_type = 'Lock' AND datname = current_database()"
            ) == 1
        }
        try other.execute("COMMIT")
        try append.finish("the append")
        let made = outcome.value
        #expect(made.first == .durable)
        #expect(made.count == 3 && made[1].isDiverged)
        #expect(made.last == .durable)
    }

    @Test func `an executed append whose end never came is ended, and is absent for good`() throws {
        let cluster = try Cluster()
        let proxy = try CuttingProxy(to: cluster.server)
        defer { proxy.stop() }
        let via = try PostgresAddress(cluster.text.replacing(cluster.server.folder, with: proxy.folder))
        let volume = try cluster.volume(7, Self.hasty, via: via)
        let first = stridedChain(0)
        #expect(volume.append([0: first]) == [.durable])
        proxy.reset()
        let second = stridedChain(0, after: first[0].last)
        #expect(volume.append([0: second]) == [.durable])
        let third = stridedChain(0, after: second[0].last)
        // All but the five bytes of the Sync message.
        proxy.plan(.toServer, after: proxy.passed(.toServer) - 5, .halfOpen)
        guard case .unknown = volume.append([0: third]).first else {
            Issue.record("an append without its end")
            return
        }
        #expect(
            try cluster.integer(
                "SELECT count(*) FROM pg_locks WHERE locktype = 'relation' AND mode = 'RowExclusiveLock' AND relation = 'timerd_log'::regclass"
            ) == 1)
        let wanted = [PartitionAppend(partition: 0, rows: third, expecting: second[0].last, epoch: 0)]
        guard case .absent(let head) = volume.settle(wanted).first else {
            Issue.record("not settled")
            return
        }
        #expect(head.epoch == 1)
        #expect(head.last > second[0].last && head.last < third[0].first)
        var again = third
        again[0].previous = head.last
        again[0].epoch = head.epoch
        #expect(volume.append([0: again], epoch: head.epoch) == [.durable])
        #expect(try rows(of: volume.store(0)).filter { $0.first == third[0].first }.count == 1)
    }

    @Test func `a batch may be settled as often as there is room before it, then it is to be folded anew`() throws {
        let cluster = try Cluster()
        let volume = try cluster.volume()
        var rows = stridedChain(0)
        var epoch: Int64 = 0
        for _ in 0..<PartitionLayout.settlements {
            let wanted = PartitionAppend(partition: 0, rows: rows, expecting: rows[0].previous, epoch: epoch)
            guard case .absent(let head) = volume.settle([wanted]).first else {
                Issue.record("no room at epoch \(epoch)")
                return
            }
            #expect(head.last > rows[0].previous && head.last < rows[0].first)
            #expect(head.epoch == epoch + 1)
            rows[0].previous = head.last
            rows[0].epoch = head.epoch
            epoch = head.epoch
        }
        let wanted = PartitionAppend(partition: 0, rows: rows, expecting: rows[0].previous, epoch: epoch)
        guard case .diverged = volume.settle([wanted]).first else {
            Issue.record("there was room once more")
            return
        }
        let head = try volume.store(0).open()
        #expect(
            volume.append([0: stridedChain(0, after: head.last, epoch: head.epoch)], epoch: head.epoch) == [.durable])
    }

    @Test func `nothing is appended before an unknown append is settled, and open settles it too`() throws {
        let cluster = try Cluster()
        let proxy = try CuttingProxy(to: cluster.server)
        defer { proxy.stop() }
        let via = try PostgresAddress(cluster.text.replacing(cluster.server.folder, with: proxy.folder))
        let volume = try cluster.volume(7, Self.hasty, via: via)
        let first = stridedChain(0)
        #expect(volume.append([0: first]) == [.durable])
        proxy.plan(.toClient, after: 1)
        let second = stridedChain(0, after: first[0].last)
        guard case .unknown = volume.append([0: second]).first else {
            Issue.record("the answer was cut")
            return
        }
        #expect(kind(volume.append([0: second]).first) == .unavailable)
        let head = try volume.store(0).open()
        #expect(head.epoch == 1)
        #expect(head.last == second[0].last + 1024)
        #expect(try rows(of: volume.store(0)).count == 3)
    }
}
