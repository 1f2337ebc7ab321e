import Foundation
import Glibc
import Platform
import TestSupport
import Testing
import TimerLog

@testable import PostgresLog

/// A server that has no room, takes no writes, has no table any more, or is behind a pooler.
struct PostgresFaultTests {
    private func kind(_ outcome: AppendOutcome?) -> StoreError.Kind? {
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
        let volume = try cluster.volume()
        let noise = noise(1 << 20)
        var last: Int64 = 0
        var refused: AppendOutcome?
        for _ in 0..<8 where refused == nil {
            var row = stridedChain(0, after: last)[0]
            row.data = noise
            let outcome = volume.append([0: [row]])[0]
            if outcome == .durable { last = row.last } else { refused = outcome }
        }
        #expect(kind(refused) == .full)
        #expect(Self.run("mount", "-o", "remount,size=64m", folder))
        #expect(volume.append([0: stridedChain(0, after: last)]) == [.durable])
        volume.close()
        cluster.server.stop()
    }

    @Test func `a table that is gone, or of another role, is no damage`() throws {
        let cluster = try Cluster()
        let volume = try cluster.volume()
        try cluster.execute("ALTER TABLE timerd_log RENAME TO other")
        #expect(kind(volume.append([0: stridedChain(0)]).first) == .unusable)
        try cluster.execute("ALTER TABLE other RENAME TO timerd_log")
        #expect(volume.append([0: stridedChain(0)]) == [.durable])
    }

    @Test func `a lock that somebody holds delays appends, and ends them in time`() throws {
        let cluster = try Cluster()
        var timeouts = PostgresTimeouts()
        timeouts.statement = 1_000_000_000
        let volume = try cluster.volume(7, timeouts)
        #expect(volume.append([0: stridedChain(0)]) == [.durable])
        let other = try cluster.connect()
        try other.execute("BEGIN; LOCK TABLE timerd_log IN ACCESS EXCLUSIVE MODE")
        let rows = [1: stridedChain(1)]
        let outcome = volume.append(rows).first
        #expect(outcome != .durable)
        try other.execute("ROLLBACK")
        if case .unknown = outcome {
            let wanted = PartitionAppend(partition: 1, rows: rows[1] ?? [], expecting: 0, epoch: 0)
            guard case .absent = volume.settle([wanted]).first else {
                Issue.record("not settled")
                return
            }
        } else {
            #expect(kind(outcome) == .unavailable)
            #expect(volume.append(rows) == [.durable])
        }
    }

    @Test func `reads of a server that is gone are no damage, and go on once it is back`() throws {
        let cluster = try ownCluster()
        let volume = try cluster.volume()
        let written = stridedChain(0, count: 3)
        #expect(volume.append([0: written]) == [.durable])
        let reader = try volume.store(0).makeReader()
        #expect(try rows(of: reader) == written)
        cluster.server.stop(.immediate)
        do throws(StoreError) {
            try reader.read(from: 0) { _ in true }
            Issue.record("a read of a server that is gone")
        } catch {
            #expect(error.kind == .unavailable)
        }
        #expect(kind(volume.append([0: stridedChain(0, after: written[2].last)]).first) == .unavailable)
        try cluster.server.start()
        #expect(try rows(of: reader) == written)
        #expect(volume.append([0: stridedChain(0, after: written[2].last)]) == [.durable])
    }

    @Test func `large batches are cut into statements by partition, and one that is too large is refused`() throws {
        let cluster = try ownCluster(["log_statement=all"])
        let volume = try cluster.volume()
        let noise = noise(6 << 20)
        func rows(_ partition: Int, _ count: Int) -> [LogRow] {
            stridedChain(partition, count: count).map { row in
                var row = row
                row.data = noise
                return row
            }
        }
        let before = cluster.server.log.count
        let made = volume.append([0: rows(0, 1), 1: stridedChain(1), 2: stridedChain(2), 3: rows(3, 3)])
        #expect(made.prefix(3) == [.durable, .durable, .durable])
        #expect(kind(made.last) == .damaged)
        let count = cluster.server.log.dropFirst(before).split(separator: "\n").filter {
            $0.contains("execute timerd_append")
        }.count
        #expect(count == 2)
        #expect(volume.append([3: rows(3, 2)]) == [.durable])
        #expect(try TestSupport.rows(of: volume.store(3)) == rows(3, 2))
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
                let volume = try PostgresLogVolume(address, session: 7)
                try cluster.give(to: 7)
                _ = try volume.store(0).open()
                #expect(mode == "session")
                #expect(volume.append([0: stridedChain(0)]) == [.durable])
                volume.close()
            } catch {
                #expect(mode == "transaction", "\(error)")
                #expect((error as? StoreError)?.kind == .unusable)
                #expect("\(error)".contains("pooler"))
            }
        }
    }
}
