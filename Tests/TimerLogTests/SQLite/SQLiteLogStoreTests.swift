import CSQLite
import Foundation
import TestSupport
import Testing

@testable import TimerLog

struct SQLiteLogStoreTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func store(_ change: (inout SQLiteLogStore.Tuning) -> Void = { _ in }) -> SQLiteLogStore {
        var tuning = SQLiteLogStore.Tuning()
        change(&tuning)
        return SQLiteLogStore(directory: directory.path, tuning: tuning)
    }

    private func connection() throws -> SQLiteConnection {
        try SQLiteConnection(path: directory.file("timers.db"), .readWrite)
    }

    private func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    @Test func `directory and files are made for their owner alone`() throws {
        let inner = directory.file("data")
        let store = SQLiteLogStore(directory: inner)
        _ = try store.open()
        #expect(store.append(chain(count: 1), expecting: 0, epoch: 0) == .durable)
        #expect(try mode(inner) == 0o700)
        for name in ["timers.db", "timers.db-wal", "timers.db-shm", "lock"] {
            #expect(try mode(inner + "/" + name) == 0o600, "\(name)")
        }
    }

    @Test func `the database has the settings the log needs`() throws {
        let store = store()
        _ = try store.open()
        let connection = try connection()
        #expect(try connection.text("PRAGMA journal_mode") == "wal")
        #expect(try connection.integer("PRAGMA page_size") == 4096)
        #expect(try connection.integer("PRAGMA auto_vacuum") == 2)
        #expect(try connection.integer("PRAGMA application_id") == 0x746d_7264)
        #expect(try connection.integer("PRAGMA user_version") == 1)
    }

    @Test func `a directory whose parent is missing is unusable`() {
        let error = #expect(throws: StoreError.self) {
            try SQLiteLogStore(directory: directory.file("no/such")).open()
        }
        #expect(error?.kind == .unusable)
    }

    @Test func `a crash loses nothing that was durable`() throws {
        let store = store()
        let secret = try store.open().secret
        let written = chain(count: 20, bytes: 30_000)
        for row in written { #expect(store.append([row], expecting: row.previous, epoch: 0) == .durable) }
        let image = try directory.crashImage()
        let survivor = SQLiteLogStore(directory: image.path)
        let head = try survivor.open()
        #expect(head.last == 200)
        #expect(head.secret == secret)
        #expect(try rows(of: survivor) == written)
        #expect(survivor.append(chain(after: 200, count: 1), expecting: 200, epoch: 0) == .durable)
    }

    @Test func `a store that was dropped lets the next one in`() throws {
        do {
            let store = store()
            _ = try store.open()
            #expect(store.append(chain(count: 2), expecting: 0, epoch: 0) == .durable)
        }
        #expect(try store().open().last == 20)
    }

    @Test func `two logs have two secrets`() throws {
        let other = try TemporaryDirectory()
        let otherStore = SQLiteLogStore(directory: other.path)
        #expect(try store().open().secret != otherStore.open().secret)
    }

    @Test func `a second opener is refused and told who holds the directory`() throws {
        let store = store()
        _ = try store.open()
        let error = #expect(throws: StoreError.self) { try self.store().open() }
        #expect(error?.kind == .inUse)
        let expected = "another timerd (pid \(ProcessInfo.processInfo.processIdentifier)) uses \(directory.path)"
        #expect(error?.description == expected)
        // A second open by the same store is not another server's.
        _ = try store.open()
        store.close()
        _ = try self.store().open()
    }

    @Test(arguments: [
        ("PRAGMA application_id = 77", "another program"), ("CREATE TABLE other(a)", "another program"),
        ("PRAGMA application_id = 0x746d7264; PRAGMA user_version = 2", "newer"),
    ])
    func `another program's database is left alone`(_ sql: String, _ reason: String) throws {
        try directory.write("timers.db")
        try connection().execute(sql)
        let before = FileManager.default.contents(atPath: directory.file("timers.db"))
        let error = #expect(throws: StoreError.self) { try store().open() }
        #expect(error?.kind == .unusable)
        #expect(error?.description.contains(reason) == true)
        #expect(FileManager.default.contents(atPath: directory.file("timers.db")) == before)
    }

    @Test func `a file that is no database is refused`() throws {
        let text = Data(repeating: 0x41, count: 50_000)
        try directory.write("timers.db", text)
        let error = #expect(throws: StoreError.self) { try store().open() }
        #expect(error?.kind == .damaged)
        #expect(FileManager.default.contents(atPath: directory.file("timers.db")) == text)
    }

    // Earlier versions made files whose pages have 16 KiB.
    @Test func `open finishes a creation that was interrupted, and keeps its pages`() throws {
        try directory.write("timers.db")
        try connection().execute(
            "PRAGMA page_size = 16384; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL")
        let store = store()
        #expect(try store.open().secret.count == 16)
        #expect(store.append(chain(count: 1), expecting: 0, epoch: 0) == .durable)
        #expect(try connection().integer("PRAGMA page_size") == 16_384)
    }

    @Test(arguments: [
        "UPDATE log SET previous = 75 WHERE first = 81", "DELETE FROM log WHERE first = 71",
        "UPDATE log SET last = 60 WHERE first = 81", "UPDATE log SET data = x'' WHERE first = 81",
    ])
    func `damage at the end of the log stops the start and is named`(_ sql: String) throws {
        do {
            let store = store()
            _ = try store.open()
            #expect(store.append(chain(count: 10), expecting: 0, epoch: 0) == .durable)
        }
        try connection().execute(sql)
        let error = #expect(throws: StoreError.self) { try store().open() }
        #expect(error?.kind == .damaged)
        #expect(error?.description.contains("position 81 ") == true)
    }

    @Test func `a full device is absent, the log goes on when there is room`() throws {
        let full = store { $0.pageLimit = 80 }
        _ = try full.open()
        #expect(full.append(chain(count: 1, bytes: 50_000), expecting: 0, epoch: 0) == .durable)
        let large = chain(after: 10, count: 1, bytes: 400_000)
        guard case .absent(let error) = full.append(large, expecting: 10, epoch: 0) else {
            Issue.record("a full database took a row")
            return
        }
        #expect(error.kind == .full)
        #expect(error.description.contains("(SQLITE_FULL) while writing positions 11…20"))
        #expect(full.append(chain(after: 10, count: 1), expecting: 10, epoch: 0) == .durable)
        full.close()
        let roomy = store()
        #expect(try roomy.open().last == 20)
        #expect(roomy.append(chain(after: 20, count: 1, bytes: 400_000), expecting: 20, epoch: 0) == .durable)
    }

    @Test func `rows another writer put there stop this one`() throws {
        let store = store()
        _ = try store.open()
        try connection().execute("INSERT INTO log VALUES (1, 5, 0, 0, 0, x'01')")
        #expect(store.append(chain(count: 1), expecting: 0, epoch: 0).isDiverged)
        #expect(try rows(of: store).map(\.last) == [5])
    }

    @Test func `a lock that does not go away is absent`() throws {
        let store = store { $0.busyMilliseconds = 1 }
        _ = try store.open()
        let operatorShell = try connection()
        try operatorShell.execute("BEGIN IMMEDIATE")
        guard case .absent(let error) = store.append(chain(count: 1), expecting: 0, epoch: 0) else {
            Issue.record("a locked database took a row")
            return
        }
        #expect(error.description.contains("SQLITE_BUSY"))
        try operatorShell.execute("COMMIT")
        #expect(store.append(chain(count: 1), expecting: 0, epoch: 0) == .durable)
    }

    @Test func `the file shrinks when most of the log is gone`() throws {
        let store = store()
        _ = try store.open()
        for batch in 0..<10 {
            let next = chain(after: Int64(batch) * 160, count: 16, bytes: 256 << 10)
            #expect(store.append(next, expecting: Int64(batch) * 160, epoch: 0) == .durable)
        }
        store.close()
        let before = store.bytesOnDisk()
        #expect(before > 40 << 20)
        _ = try store.open()
        while try store.delete(upTo: .max) > 0 {}
        store.close()
        // A fifth of the nearly empty log and 16 MiB may stay.
        #expect(store.bytesOnDisk() < 17 << 20)
        #expect(try store.open().last == 1600)
        #expect(try connection().text("PRAGMA integrity_check") == "ok")
    }

    @Test func `a reader without a lock works beside the writer, and refuses what is no log`() throws {
        let refusal = #expect(throws: StoreError.self) { try SQLiteLogStore.openReader(directory: directory.path) }
        #expect(refusal?.description == "there is no log in \(directory.path)")
        let store = store()
        _ = try store.open()
        let reader = try SQLiteLogStore.openReader(directory: directory.path)
        #expect(try rows(of: reader) == [])
        #expect(store.append(chain(count: 3), expecting: 0, epoch: 0) == .durable)
        #expect(try rows(of: reader) == chain(count: 3))
        _ = try store.open()
        #expect(try rows(of: reader) == chain(count: 3))
    }
}
