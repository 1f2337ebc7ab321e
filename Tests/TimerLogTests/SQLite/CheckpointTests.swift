import CSQLite
import Foundation
import Platform
import TestSupport
import Testing

@testable import TimerLog

struct CheckpointTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func walBytes() throws -> Int { try bytes("timers.db-wal") }

    private func bytes(_ name: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: directory.file(name))
        return try #require(attributes[.size] as? Int)
    }

    private func store(passive: Int, restart: Int, most: Int = 1 << 30) -> SQLiteLogStore {
        var tuning = SQLiteLogStore.Tuning()
        tuning.passiveBytes = passive
        tuning.restartBytes = restart
        tuning.mostBytes = most
        return SQLiteLogStore(directory: directory.path, tuning: tuning)
    }

    /// Appends `count` rows of 50 kB, one a commit; returns the largest size of the WAL on the way.
    private func grow(_ store: SQLiteLogStore, from head: Int64 = 0, count: Int) throws -> Int {
        var largest = 0
        for row in chain(after: head, count: count, bytes: 50_000) {
            #expect(store.append([row], expecting: row.previous, epoch: 0) == .durable)
            largest = max(largest, try walBytes())
        }
        return largest
    }

    @Test(arguments: [256 << 10, 1 << 30])
    func `the WAL stays bounded, with and without the thread`(_ passive: Int) throws {
        let store = store(passive: passive, restart: 1 << 30, most: 1 << 20)
        _ = try store.open()
        #expect(try grow(store, count: 300) < 4 << 20)
        #expect(try rows(of: store) == chain(count: 300, bytes: 50_000))
    }

    @Test func `the thread copies the WAL into the database while the log grows`() throws {
        let store = store(passive: 256 << 10, restart: 1 << 30)
        _ = try store.open()
        var head: Int64 = 0
        // A thousandth of this bound is enough if the thread runs at once.
        while head < 100_000, try bytes("timers.db") < 1 << 20 {
            _ = try grow(store, from: head, count: 10)
            head += 100
        }
        #expect(try bytes("timers.db") >= 1 << 20)
    }

    @Test func `a full WAL starts over where little is left to copy`() throws {
        // A commit is some 6 pages: the WAL is full at 32, and at 64 the thread would run.
        let store = store(passive: 1 << 30, restart: 128 << 10)
        _ = try store.open()
        var restarts: [UInt32] = []
        for row in chain(count: 60, bytes: 20_000) {
            #expect(store.append([row], expecting: row.previous, epoch: 0) == .durable)
            restarts.append(try timesStartedOver())
        }
        let (first, last) = try (#require(restarts.first), #require(restarts.last))
        // The thread alone would make 5 at most.
        #expect(last - first >= 7)
        #expect(try rows(of: store) == chain(count: 60, bytes: 20_000))
    }

    /// A thread whose checkpoints all fail; `tries` counts them.
    private func failingCheckpointer(_ tries: Guarded<Int>) -> Checkpointer {
        Checkpointer(Checkpointer.Pace(interval: 1 << 30, rest: 10)) { () throws(SQLiteFailure) in
            tries.update { $0 += 1 }
            throw SQLiteFailure(code: SQLITE_CANTOPEN, message: "never opened", systemError: 0)
        }
    }

    @Test func `a WAL is nearly copied only where what is left is short`() {
        let checkpointer = failingCheckpointer(Guarded(0))
        checkpointer.note(pages: 10, isFull: false)
        #expect(checkpointer.hasNearlyCopied)
        checkpointer.note(pages: 11, isFull: false)
        #expect(!checkpointer.hasNearlyCopied)
        checkpointer.end()
    }

    @Test func `the thread copies a full WAL in short passes, and any other in long ones`() {
        let tries = Guarded(0)
        let checkpointer = failingCheckpointer(tries)
        checkpointer.note(pages: 100, isFull: false)
        for passes in 1...3 {
            checkpointer.note(pages: 100 + 10 * passes, isFull: true)
            #expect(tries.wait(nanoseconds: 60_000_000_000) { $0 == passes ? true : nil } == true)
        }
        checkpointer.end()
        #expect(tries.withLock { $0 } == 3)
    }

    /// The number in the WAL's header that grows whenever it starts over.
    private func timesStartedOver() throws -> UInt32 {
        let file = try #require(FileHandle(forReadingAtPath: directory.file("timers.db-wal")))
        let header = try #require(try file.read(upToCount: 32))
        return header[12..<16].reduce(0) { $0 << 8 | UInt32($1) }
    }

    @Test func `without checkpoints it would not`() throws {
        let store = store(passive: 1 << 30, restart: 1 << 30)
        _ = try store.open()
        #expect(try grow(store, count: 300) > 14 << 20)
    }

    @Test(arguments: [1 << 20, 4 << 20])
    func `a reader that stays delays the WAL's restart and no append`(_ most: Int) throws {
        let store = store(passive: 1 << 30, restart: 1 << 20, most: most)
        _ = try store.open()
        _ = try grow(store, count: 1)
        let shell = try SQLiteConnection(path: directory.file("timers.db"), .readWrite)
        try shell.execute("BEGIN; SELECT count(*) FROM log")
        let held = try grow(store, from: 10, count: 60)
        #expect(held > 2 << 20)
        try shell.execute("COMMIT")
        #expect(try grow(store, from: 610, count: 300) < held + most + (2 << 20))
    }

    @Test func `open leaves nothing in the WAL, also where another program keeps it`() throws {
        let store = store(passive: 1 << 30, restart: 1 << 30)
        _ = try store.open()
        #expect(try grow(store, count: 3) > 100_000)
        let shell = try SQLiteConnection(path: directory.file("timers.db"), .readOnly)
        #expect(try shell.integer("SELECT count(*) FROM log") == 3)
        _ = try store.open()
        #expect(try walBytes() == 0)
        #expect(try rows(of: store).count == 3)
    }

    @Test func `close leaves no connection open, readers' included`() throws {
        let store = store(passive: 1 << 30, restart: 1 << 30)
        _ = try store.open()
        let reader = try store.makeReader()
        #expect(try grow(store, count: 3) > 100_000)
        #expect(try rows(of: reader).count == 3)
        store.close()
        // The last connection removes the WAL when it closes.
        #expect(!FileManager.default.fileExists(atPath: directory.file("timers.db-wal")))
        _ = try store.open()
        #expect(try rows(of: reader).count == 3)
    }
}
