import TestSupport
import Testing

@testable import TimerLog

struct LogRepairTests {
    let directory: TemporaryDirectory
    let store: SQLiteLogStore

    init() throws {
        directory = try TemporaryDirectory()
        store = SQLiteLogStore(directory: directory.path)
        _ = try store.open()
        _ = store.append(chain(count: 10), expecting: 0, epoch: 0)
    }

    @Test(arguments: [
        (100, LogRepair.Cut(rows: 0, bytes: 0), 10), (90, LogRepair.Cut(rows: 1, bytes: 100, first: 91, last: 100), 9),
        (35, LogRepair.Cut(rows: 7, bytes: 700, first: 31, last: 100), 3),
        (0, LogRepair.Cut(rows: 10, bytes: 1000, first: 1, last: 100), 0),
    ])
    func `a cut takes every row with a later position`(_ position: Int64, _ cut: LogRepair.Cut, _ left: Int) throws {
        store.close()
        #expect(try LogRepair.cut(directory: directory.path, after: position) == cut)
        #expect(try store.open().last == Int64(left) * 10)
        #expect(try rows(of: store) == chain(count: left))
    }

    @Test(arguments: [
        "UPDATE log SET previous = 75 WHERE first = 81", "UPDATE log SET last = 5 WHERE first = 81",
        "UPDATE log SET last = 500 WHERE first = 81", "DELETE FROM log WHERE first = 71",
    ])
    func `a damaged log opens again after the cut before the row that was named`(_ sql: String) throws {
        store.close()
        try SQLiteConnection(path: directory.file("timers.db"), .readWrite).execute(sql)
        #expect(throws: StoreError.self) { try store.open() }
        store.close()
        _ = try LogRepair.cut(directory: directory.path, after: 80)
        let head = try store.open().last
        #expect(head == 80 || head == 70)
        #expect(store.append(chain(after: head, count: 1), expecting: head, epoch: 0) == .durable)
    }

    @Test func `no cut while a server runs`() throws {
        let error = #expect(throws: StoreError.self) { try LogRepair.cut(directory: directory.path, after: 50) }
        #expect(error?.kind == .inUse)
        #expect(try rows(of: store).count == 10)
    }

    @Test func `what is no log can't be cut`() throws {
        let empty = try TemporaryDirectory()
        let error = #expect(throws: StoreError.self) { try LogRepair.cut(directory: empty.path, after: 0) }
        #expect(error?.kind == .unusable)
    }
}
