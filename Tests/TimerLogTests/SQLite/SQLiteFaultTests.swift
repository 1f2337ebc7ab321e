import CSQLite
import TestSupport
import Testing

@testable import TimerLog

/// The outcome of an append when the device fails. Serialized, as SQLite knows a single faulty VFS.
@Suite(.serialized)
struct SQLiteFaultTests {
    static let fsync = csqlite_failed_sync
    static let write = SQLITE_IOERR | (3 << 8)
    let directory: TemporaryDirectory
    let store: SQLiteLogStore

    init() throws {
        FaultyVFS.register()
        _ = FaultyVFS.settle()
        directory = try TemporaryDirectory()
        var tuning = SQLiteLogStore.Tuning()
        tuning.vfs = FaultyVFS.name
        // The checkpoint thread's writes would meet the failures that are meant for others.
        tuning.passiveBytes = 1 << 40
        tuning.restartBytes = 1 << 40
        tuning.mostBytes = 1 << 20
        store = SQLiteLogStore(directory: directory.path, tuning: tuning)
        _ = try store.open()
        // The first commit after an open also writes and syncs the header of the WAL.
        #expect(store.append(chain(count: 1), expecting: 0, epoch: 0) == .durable)
    }

    private let batch = chain(after: 10, count: 2)

    /// Opens the log again and appends after it, whatever the outcome of `batch` was. Returns whether the batch
    /// is there.
    private func goOn(_ store: SQLiteLogStore) throws -> Bool {
        let head = try store.open().last
        let isThere = head == 30
        #expect(try rows(of: store) == chain(count: isThere ? 3 : 1))
        #expect(store.append(chain(after: head, count: 1), expecting: head, epoch: 0) == .durable)
        #expect(try store.open().last == head + 10)
        return isThere
    }

    @Test func `a commit whose sync fails is unknown, and a crash then brings it back`() throws {
        FaultyVFS.fail(.walSync, with: Self.fsync)
        let message = "disk I/O error (SQLITE_IOERR_FSYNC) while committing positions 11…30"
        #expect(store.append(batch, expecting: 10, epoch: 0) == .unknown(StoreError(.io, message)))
        #expect(FaultyVFS.settle())
        // No connection sees the rows, and yet they are in the WAL.
        #expect(try rows(of: store) == chain(count: 1))
        let image = try directory.crashImage()
        #expect(try goOn(SQLiteLogStore(directory: image.path)))
        _ = try goOn(store)
    }

    @Test func `the thread syncs what a pass has copied, also where that is not the whole WAL`() throws {
        // The reader keeps a pass from copying the rows after it, as commits do that come meanwhile.
        let reader = try SQLiteConnection(path: directory.file("timers.db"), .readOnly)
        try reader.execute("BEGIN; SELECT count(*) FROM log")
        #expect(store.append(batch, expecting: 10, epoch: 0) == .durable)
        FaultyVFS.fail(.databaseSync, with: Self.fsync)
        let path = directory.file("timers.db")
        let checkpointer = Checkpointer(Checkpointer.Pace(interval: 1, rest: 1)) { () throws(SQLiteFailure) in
            let connection = try SQLiteConnection(path: path, .readWrite, vfs: FaultyVFS.name)
            _ = try connection.integer("SELECT count(*) FROM log")
            return connection
        }
        checkpointer.note(pages: 1, isFull: false)
        try eventually("the database is synced") { FaultyVFS.isSettled }
        checkpointer.end()
        try reader.execute("COMMIT")
    }

    @Test func `a lost commit stays lost where a connection of another program keeps SQLite from recovering`() throws {
        let other = try SQLiteConnection(path: directory.file("timers.db"), .readOnly)
        #expect(try other.integer("SELECT count(*) FROM log") == 1)
        FaultyVFS.fail(.walSync, with: Self.fsync)
        guard case .unknown = store.append(batch, expecting: 10, epoch: 0) else {
            Issue.record("the commit's failure was not told")
            return
        }
        #expect(FaultyVFS.settle())
        let image = try directory.crashImage()
        #expect(try goOn(store) == false)
        #expect(try other.integer("SELECT count(*) FROM log") == 2)
        // A crash before the open would have brought the rows back; a crash after it does not.
        #expect(try goOn(SQLiteLogStore(directory: image.path)))
        let later = try directory.crashImage()
        #expect(try SQLiteLogStore(directory: later.path).open().last == 20)
    }

    @Test(arguments: [(write, StoreError.Kind.io), (SQLITE_FULL, .full)])
    func `a commit that can't be written is unknown`(_ code: Int32, _ kind: StoreError.Kind) throws {
        FaultyVFS.fail(.walWrite, with: code)
        guard case .unknown(let error) = store.append(batch, expecting: 10, epoch: 0) else {
            Issue.record("the commit's failure was not told")
            return
        }
        #expect(error.kind == kind)
        #expect(FaultyVFS.settle())
        #expect(try goOn(store) == false)
    }

    @Test func `after an unknown outcome nothing is written before the store is opened again`() throws {
        FaultyVFS.fail(.walSync, with: Self.fsync)
        _ = store.append(batch, expecting: 10, epoch: 0)
        guard case .absent(let error) = store.append(batch, expecting: 10, epoch: 0) else {
            Issue.record("a store in doubt took rows")
            return
        }
        #expect(error.description.contains("opened again"))
        #expect(throws: StoreError.self) { try store.delete(upTo: 10) }
        _ = try goOn(store)
    }

    @Test func `a write that fails before the commit is absent, and the store goes on`() throws {
        FaultyVFS.fail(.walWrite, with: Self.write)
        let large = chain(after: 10, count: 40, bytes: 1 << 20)
        let outcome = store.append(large, expecting: 10, epoch: 0)
        guard case .absent(let error) = outcome else {
            Issue.record("\(outcome): rows too many for memory were not written before the commit")
            return
        }
        #expect(error.description.contains("SQLITE_IOERR_WRITE) while writing positions 11…410"))
        #expect(FaultyVFS.settle())
        #expect(try rows(of: store) == chain(count: 1))
        #expect(store.append(batch, expecting: 10, epoch: 0) == .durable)
        #expect(try store.open().last == 30)
    }

    @Test(arguments: [FaultyVFS.Call.databaseWrite, .databaseSync])
    func `an open whose checkpoint fails is refused, the next one finds everything`(_ call: FaultyVFS.Call) throws {
        // The crash image's open meets the WAL; closing the last connection would have emptied it.
        let image = try directory.crashImage()
        var tuning = SQLiteLogStore.Tuning()
        tuning.vfs = FaultyVFS.name
        let survivor = SQLiteLogStore(directory: image.path, tuning: tuning)
        let reader = try survivor.makeReader()
        FaultyVFS.fail(call, with: call == .databaseSync ? Self.fsync : Self.write)
        let error = #expect(throws: StoreError.self) { try survivor.open() }
        #expect(error?.kind == .io)
        #expect(error?.description.contains("checkpointing") == true)
        #expect(FaultyVFS.settle())
        #expect(throws: StoreError.self) { try rows(of: reader) }
        #expect(try survivor.open().last == 10)
        #expect(try rows(of: reader) == chain(count: 1))
    }

    @Test func `an append whose checkpoint fails is absent`() throws {
        #expect(store.append(chain(after: 10, count: 20, bytes: 100_000), expecting: 10, epoch: 0) == .durable)
        FaultyVFS.fail(.databaseWrite, with: Self.write)
        let next = chain(after: 210, count: 1)
        guard case .absent(let error) = store.append(next, expecting: 210, epoch: 0) else {
            Issue.record("the checkpoint's failure was not told")
            return
        }
        #expect(error.description.contains("SQLITE_IOERR_WRITE) while checkpointing"))
        #expect(FaultyVFS.settle())
        #expect(store.append(next, expecting: 210, epoch: 0) == .durable)
    }

    /// Copies the first of `count` rows into the database, as a pass of the thread does while a reader needs no more; the
    /// next sync of the database then loses them.
    private func copyPart(count: Int) throws {
        let path = directory.file("timers.db")
        let reader = try SQLiteConnection(path: path, .readOnly)
        #expect(store.append(chain(after: 10, count: 20, bytes: 30_000), expecting: 10, epoch: 0) == .durable)
        try reader.execute("BEGIN; SELECT count(*) FROM log")
        let rest = chain(after: 210, count: count - 21, bytes: 30_000)
        #expect(store.append(rest, expecting: 210, epoch: 0) == .durable)
        FaultyVFS.loseNextSync()
        let pass = try SQLiteConnection(path: path, .readWrite, vfs: FaultyVFS.name)
        _ = try pass.integer("SELECT count(*) FROM log")
        #expect(try pass.checkpoint(.passive) >= 20)
        try reader.execute("COMMIT")
    }

    /// A connection as of another program, which keeps the index of the WAL over the end of all others.
    private func otherProgram() throws -> SQLiteConnection {
        let other = try SQLiteConnection(path: directory.file("timers.db"), .readOnly)
        #expect(try other.integer("PRAGMA user_version") >= 0)
        return other
    }

    @Test(arguments: [true, false])
    func `rows whose copies a failed sync loses are copied again before the WAL starts over`(_ isAlone: Bool) throws {
        // The WAL is over its bound now, so the next append begins with a checkpoint.
        try copyPart(count: 40)
        let other = isAlone ? nil : try otherProgram()
        let next = chain(after: 400, count: 1)
        guard case .unknown(let error) = store.append(next, expecting: 400, epoch: 0) else {
            Issue.record("the store goes on though it may have lost pages")
            return
        }
        #expect(error.description.contains("SQLITE_IOERR_FSYNC) while checkpointing"))
        #expect(FaultyVFS.settle())
        // A reader would read what stood in the place of the lost pages.
        let refusal = #expect(throws: StoreError.self) { try rows(of: store) }
        #expect(refusal?.description.contains("not open") == true)
        #expect(try store.open().last == 400)
        let all = chain(count: 1) + chain(after: 10, count: 39, bytes: 30_000)
        #expect(try rows(of: store) == all)
        #expect(store.append(next, expecting: 400, epoch: 0) == .durable)
        let image = try directory.crashImage()
        #expect(try SQLiteLogStore(directory: image.path).open().last == 410)
        withExtendedLifetime(other) {}
    }

    /// Closes the store after a failed sync has lost a part of 40 rows. Returns the other program's connection.
    private func closeAfterFailedSync(isAlone: Bool) throws -> SQLiteConnection? {
        try copyPart(count: 40)
        let other = isAlone ? nil : try otherProgram()
        _ = store.append(chain(after: 400, count: 1), expecting: 400, epoch: 0)
        #expect(FaultyVFS.settle())
        store.close()
        return other
    }

    @Test(arguments: [true, false])
    func `a close after a failed sync leaves the WAL, and the next open copies all of it`(_ isAlone: Bool) throws {
        let other = try closeAfterFailedSync(isAlone: isAlone)
        let next = SQLiteLogStore(directory: directory.path)
        #expect(try next.open().last == 400)
        #expect(try rows(of: next) == chain(count: 1) + chain(after: 10, count: 39, bytes: 30_000))
        withExtendedLifetime(other) {}
    }

    @Test func `a cut after a failed sync copies all of the WAL`() throws {
        let other = try closeAfterFailedSync(isAlone: false)
        _ = try LogRepair.cut(directory: directory.path, after: 390)
        let next = SQLiteLogStore(directory: directory.path)
        #expect(try next.open().last == 390)
        #expect(try rows(of: next) == chain(count: 1) + chain(after: 10, count: 38, bytes: 30_000))
        withExtendedLifetime(other) {}
    }

    @Test func `what an open's failed sync loses is copied again by the next one`() throws {
        try copyPart(count: 40)
        let other = try otherProgram()
        let error = #expect(throws: StoreError.self) { try store.open() }
        #expect(error?.description.contains("SQLITE_IOERR_FSYNC) while checkpointing") == true)
        #expect(FaultyVFS.settle())
        #expect(try store.open().last == 400)
        #expect(try rows(of: store) == chain(count: 1) + chain(after: 10, count: 39, bytes: 30_000))
        withExtendedLifetime(other) {}
    }

    @Test func `the writer learns of a sync that failed on the checkpointer's thread`() throws {
        var tuning = SQLiteLogStore.Tuning()
        tuning.vfs = FaultyVFS.name
        tuning.passiveBytes = 64 << 10
        let other = try TemporaryDirectory()
        let store = SQLiteLogStore(directory: other.path, tuning: tuning)
        _ = try store.open()
        FaultyVFS.loseNextSync()
        var head: Int64 = 0
        var outcome = AppendOutcome.durable
        // The thread needs a moment to meet the failure; a hundred rows would be enough if it ran at once.
        while head < 100_000 {
            outcome = store.append(chain(after: head, count: 1, bytes: 20_000), expecting: head, epoch: 0)
            guard outcome == .durable else { break }
            head += 10
        }
        guard case .unknown(let error) = outcome else {
            Issue.record("the failure was not told: \(outcome)")
            return
        }
        #expect(error.description.contains("SQLITE_IOERR_FSYNC) while checkpointing"))
        #expect(FaultyVFS.settle())
        #expect(try store.open().last == head)
        #expect(try rows(of: store) == chain(count: Int(head / 10), bytes: 20_000))
    }

    @Test func `a delete whose commit fails throws, and nothing is lost but what was to go`() throws {
        #expect(store.append(batch, expecting: 10, epoch: 0) == .durable)
        FaultyVFS.fail(.walSync, with: Self.fsync)
        #expect(throws: StoreError.self) { try store.delete(upTo: 10) }
        #expect(FaultyVFS.settle())
        #expect(try store.open().last == 30)
        let left = try rows(of: store)
        #expect(left == chain(count: 3) || left == Array(chain(count: 3)[1...]))
    }
}
