import Foundation
import Glibc
import Platform
import TestSupport
import Testing
import TimerLog

@testable import PostgresLog

/// A server that has no room, takes no writes, has no table any more, or is behind a pooler.
struct PostgresFaultTests {
    private func kind(_ outcome: AppendOutcome) -> StoreError.Kind? {
        guard case .absent(let error) = outcome else { return nil }
        return error.kind
    }

    private static func run(_ command: String...) -> Bool { (try? ChildProcess(command).wait()) == 0 }

    @Test func `a full disk refuses appends, and takes them once there is room`() throws {
        let folder = "/tmp/timerd-full-\(getpid())"
        guard geteuid() == 0, Self.run("mkdir", folder),
            Self.run("mount", "-t", "tmpfs", "-o", "size=4m", "none", folder)
        else { return print("skipped: a file system of its own takes root, and the right to mount") }
        defer {
            _ = Self.run("umount", "-l", folder)
            _ = Self.run("rmdir", folder)
        }
        #expect(Self.run("chown", "postgres", folder))
        let cluster = try ownCluster()
        try cluster.execute("CREATE TABLESPACE small LOCATION '\(folder)'")
        try cluster.execute("ALTER TABLE timerd_log SET TABLESPACE small")
        let store = try cluster.store()
        let noise = noise(1 << 20)
        var last: Int64 = 0
        var refused: AppendOutcome?
        for _ in 0..<8 where refused == nil {
            var row = batch(after: last)[0]
            row.data = noise
            let outcome = store.append([row])
            if outcome == .durable { last = row.last } else { refused = outcome }
        }
        #expect(refused.flatMap(kind) == .full)
        #expect(Self.run("mount", "-o", "remount,size=64m", folder))
        #expect(store.append(batch(after: last)) == .durable)
        store.disconnect()
        cluster.server.stop()
    }

    @Test func `a table that is gone, or of another role, is no damage`() throws {
        let cluster = try Cluster()
        let store = try cluster.store()
        try cluster.execute("ALTER TABLE timerd_log RENAME TO other")
        #expect(kind(store.append(batch())) == .unusable)
        try cluster.execute("ALTER TABLE other RENAME TO timerd_log")
        #expect(store.append(batch()) == .durable)
    }

    @Test func `a lock that somebody holds delays appends, and ends them in time`() throws {
        let cluster = try Cluster()
        let store = try cluster.store(7, .hasty)
        #expect(store.append(batch()) == .durable)
        let other = try cluster.connect()
        try other.execute("BEGIN; LOCK TABLE timerd_log IN ACCESS EXCLUSIVE MODE")
        let rows = batch(after: batch()[0].last)
        let outcome = store.append(rows)
        #expect(outcome != .durable)
        try other.execute("ROLLBACK")
        if case .unknown = outcome {
            guard case .absent = store.settle(rows) else {
                Issue.record("not settled")
                return
            }
        } else {
            #expect(kind(outcome) == .unavailable)
            #expect(store.append(rows) == .durable)
        }
    }

    @Test func `reads of a server that is gone are no damage, and go on once it is back`() throws {
        let cluster = try ownCluster()
        let store = try cluster.store()
        let written = batch(count: 3)
        #expect(store.append(written) == .durable)
        let reader = try store.makeReader()
        #expect(try rows(of: reader) == written)
        cluster.server.stop(.immediate)
        do throws(StoreError) {
            try reader.read(from: 0) { _ in true }
            Issue.record("a read of a server that is gone")
        } catch {
            #expect(error.kind == .unavailable)
        }
        #expect(kind(store.append(batch(after: written[2].last))) == .unavailable)
        try cluster.server.start()
        #expect(try rows(of: reader) == written)
        #expect(store.append(batch(after: written[2].last)) == .durable)
    }

    @Test func `a read that hangs is interrupted, and the next goes on`() throws {
        let cluster = try Cluster(ownDatabase: true)
        var timeouts = PostgresTimeouts.patient
        timeouts.page = timeouts.vacuum
        let store = try cluster.store(7, timeouts)
        let written = batch(count: 3)
        #expect(store.append(written) == .durable)
        let other = try cluster.connect()
        try other.execute("BEGIN; LOCK TABLE timerd_log IN ACCESS EXCLUSIVE MODE")
        let failure = Guarded<StoreError?>(nil)
        let read = Background {
            do throws(StoreError) { try store.makeReader().read(from: 0) { _ in true } } catch {
                failure.withLock { $0 = error }
            }
        }
        try eventually("the read waits") { try cluster.waiters() == 1 }
        store.interruptReads()
        try read.finish("the read")
        #expect(failure.value?.kind == .unavailable)
        try other.execute("ROLLBACK")
        #expect(try rows(of: store.makeReader()) == written)
    }

    /// A row for each of `counts`, of so many mebibytes that don't compress.
    private func large(_ counts: [Int], after: Int64 = 0) -> [LogRow] {
        zip(batch(after: after, count: counts.count), counts).map { row, count in
            var row = row
            row.data = noise(count << 20)
            return row
        }
    }

    @Test func `a batch is cut between rows into statements of 8 MiB, and a larger row has one of its own`() throws {
        let cluster = try ownCluster(["log_statement=all"])
        let store = try cluster.store()
        let before = cluster.server.log.count
        let rows = large([3, 3, 3, 9, 1, 1])
        #expect(store.append(rows) == .durable)
        let count = cluster.server.log.dropFirst(before).split(separator: "\n").filter {
            $0.contains("execute timerd_append")
        }.count
        #expect(count == 4)
        #expect(try TestSupport.rows(of: store) == rows)
        #expect(store.append(batch(after: rows[5].last)) == .durable)
    }

    @Test func `a batch of which only the first statements were taken is unknown, and not taken for whole`() throws {
        let cluster = try Cluster(ownDatabase: true)
        try cluster.execute(
            """
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
              $$ BEGIN RAISE EXCEPTION 'not today' USING ERRCODE = 'disk_full'; END $$;
            CREATE TRIGGER late BEFORE INSERT ON timerd_log
              FOR EACH ROW WHEN (length(NEW.data) = 5 << 20) EXECUTE FUNCTION refuse()
            """)
        let store = try cluster.store()
        let rows = large([4, 4, 5])
        guard case .unknown(let error) = store.append(rows) else {
            Issue.record("the second statement was refused")
            return
        }
        #expect(error.description.contains("not today"))
        #expect(try cluster.rowCount() == 2)
        // No append follows before that one is settled.
        #expect(kind(store.append(batch(after: rows[1].last))) == .unavailable)
        guard case .diverged(let part) = store.settle(rows) else {
            Issue.record("a part of a batch was taken for all or nothing")
            return
        }
        #expect(part.kind == .io && part.description.contains("2 of the 3 rows"))
        let head = try store.open()
        #expect(try TestSupport.rows(of: store).prefix(2) == rows.prefix(2))
        let next = batch(after: head.last, epoch: head.epoch)
        #expect(store.append(next, epoch: head.epoch) == .durable)
        // Nothing is written when the first statement is refused.
        #expect(kind(store.append(large([5, 4], after: next[0].last), epoch: head.epoch)) == .full)
        #expect(store.append(batch(after: next[0].last), epoch: head.epoch) == .durable)
    }

    @Test func `a batch whose owner changes between its statements is unknown, and then fenced`() throws {
        let cluster = try Cluster(ownDatabase: true)
        try cluster.execute(
            """
            CREATE FUNCTION move() RETURNS trigger LANGUAGE plpgsql AS
              $$ BEGIN UPDATE timerd_owner SET session = 8, epoch = epoch + 1; RETURN NULL; END $$;
            CREATE TRIGGER late AFTER INSERT ON timerd_log
              FOR EACH ROW WHEN (length(NEW.data) = 5 << 20) EXECUTE FUNCTION move()
            """)
        let store = try cluster.store()
        let rows = large([5, 4])
        guard case .unknown = store.append(rows) else {
            Issue.record("the second statement was fenced")
            return
        }
        #expect(store.settle(rows) == .fenced)
        #expect(try cluster.rowCount() == 1)
    }

    @Test func `a pooler of transactions is refused, one of sessions is not`() throws {
        let program = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].first {
            FileManager.default.isExecutableFile(atPath: $0)
        }
        guard let program else { return print("skipped: pgbouncer is not installed") }
        let cluster = try Cluster(ownDatabase: true)
        for mode in ["transaction", "session"] {
            let folder = "/tmp/timerd-bouncer-\(getpid())-\(mode)"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            try """
            [databases]
            * = host=\(cluster.server.folder) user=postgres
            [pgbouncer]
            listen_port = 5432
            unix_socket_dir = \(folder)
            auth_type = any
            pool_mode = \(mode)
            ignore_startup_parameters = extra_float_digits
            """.write(toFile: folder + "/ini", atomically: true, encoding: .utf8)
            _ = Self.run("chown", "-R", "postgres", folder)
            let pooler = try ChildProcess(PostgresServer.asServer + [program, "-q", folder + "/ini"])
            defer {
                kill(pooler.pid, SIGQUIT)
                pooler.wait()
            }
            let name = cluster.text.split(separator: "dbname=")[1]
            let address = try PostgresAddress("host=\(folder) user=postgres dbname=\(name)")
            try eventually("the pooler listens") {
                (try? PostgresConnection.open(address, for: .init(session: 0))) != nil
            }
            do {
                let store = try PostgresLogStore(address, session: 7)
                try cluster.give(to: 7)
                _ = try store.open()
                #expect(mode == "session")
                #expect(store.append(batch()) == .durable)
                store.disconnect()
            } catch {
                #expect(mode == "transaction", "\(error)")
                #expect((error as? StoreError)?.kind == .unusable)
                #expect("\(error)".contains("pooler"))
            }
        }
    }
}
