import Foundation
import TestSupport
import Testing

@testable import TimerLog

/// Files that are deleted, moved or replaced under an open store: rows that no restart would find are not durable.
struct LostFilesTests {
    let directory: TemporaryDirectory
    let store: SQLiteLogStore
    private var data: String { directory.file("data") }
    private let files = FileManager.default
    private let next = chain(after: 10, count: 1)

    init() throws {
        directory = try TemporaryDirectory()
        store = SQLiteLogStore(directory: directory.file("data"))
        _ = try store.open()
        #expect(store.append(chain(count: 1), expecting: 0, epoch: 0) == .durable)
    }

    /// Appends `next`, whose outcome must be unknown because of the file of this name.
    private func appendInVain(because name: String) {
        guard case .unknown(let error) = store.append(next, expecting: 10, epoch: 0) else {
            Issue.record("an append to a file without its name was taken")
            return
        }
        #expect(error.description == "\(data)/\(name) was deleted, moved or replaced")
    }

    @Test(arguments: ["timers.db", "timers.db-wal"])
    func `a commit into a deleted file is not durable, and no later one is tried`(_ name: String) throws {
        try files.removeItem(atPath: data + "/" + name)
        appendInVain(because: name)
        guard case .absent = store.append(next, expecting: 10, epoch: 0) else {
            Issue.record("a store in doubt took rows")
            return
        }
    }

    @Test func `an open anew makes nothing where the directory is gone, and finds everything once it is back`() throws {
        try files.moveItem(atPath: data, toPath: directory.file("away"))
        appendInVain(because: "timers.db")
        let error = #expect(throws: StoreError.self) { try store.open() }
        #expect(error?.description == "\(data)/lock was deleted, moved or replaced")
        #expect(!files.fileExists(atPath: data))
        try files.moveItem(atPath: directory.file("away"), toPath: data)
        #expect(try store.open().last == 20)
        #expect(try rows(of: store) == chain(count: 2))
    }

    @Test func `an open anew makes no database in the place of a deleted one`() throws {
        for name in ["timers.db", "timers.db-wal", "timers.db-shm"] { try files.removeItem(atPath: data + "/" + name) }
        appendInVain(because: "timers.db")
        #expect(throws: StoreError.self) { try store.open() }
        #expect(!files.fileExists(atPath: data + "/timers.db"))
    }

    @Test(arguments: [true, false])
    func `an open anew refuses another log, and an older state of its own`(isOther: Bool) throws {
        let other = SQLiteLogStore(directory: directory.file("other"))
        _ = try other.open()
        if isOther { #expect(other.append(chain(count: 5), expecting: 0, epoch: 0) == .durable) }
        other.close()
        let older = isOther ? directory.file("other/timers.db") : try closedCopy()
        #expect(store.append(next, expecting: 10, epoch: 0) == .durable)
        for name in ["timers.db", "timers.db-wal", "timers.db-shm"] { try files.removeItem(atPath: data + "/" + name) }
        try files.copyItem(atPath: older, toPath: data + "/timers.db")
        let error = #expect(throws: StoreError.self) { try store.open() }
        #expect(error?.description == "\(data)/timers.db was deleted, moved or replaced")
        // A new start takes the file that is there.
        store.close()
        #expect(try store.open().last == (isOther ? 50 : 10))
    }

    /// The log as it is now, in one file.
    private func closedCopy() throws -> String {
        let copy = directory.file("copy")
        try files.copyItem(atPath: data, toPath: copy)
        let store = SQLiteLogStore(directory: copy)
        _ = try store.open()
        store.close()
        return copy + "/timers.db"
    }

    @Test func `an empty file in the place of the database is refused by an open anew`() throws {
        for name in ["timers.db", "timers.db-wal", "timers.db-shm"] { try files.removeItem(atPath: data + "/" + name) }
        #expect(files.createFile(atPath: data + "/timers.db", contents: nil))
        let error = #expect(throws: StoreError.self) { try store.open() }
        #expect(error?.description == "\(data)/timers.db is empty, and was not")
    }
}
