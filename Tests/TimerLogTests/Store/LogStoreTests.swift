import PostgresLog
import TestSupport
import Testing

@testable import TimerLog

/// The behaviour that all stores share.
struct LogStoreTests {
    enum Kind: CaseIterable { case memory, sqlite, postgres }

    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func store(_ kind: Kind) throws -> any LogStore {
        switch kind {
        case .memory: MemoryLogStore()
        case .sqlite: SQLiteLogStore(directory: directory.path)
        case .postgres: try PostgresLogs.store()
        }
    }

    @Test(arguments: Kind.allCases)
    func `an empty log has no rows and stands at 0`(_ kind: Kind) throws {
        let store = try store(kind)
        let head = try store.open()
        #expect(head.last == 0)
        #expect(head.epoch == 0)
        #expect(head.secret.count == 16)
        #expect(try rows(of: store) == [])
        #expect(try store.makeReader().row(holding: 1) == nil)
        #expect(try store.delete(upTo: 100) == 0)
    }

    @Test(arguments: Kind.allCases)
    func `what was appended is read back in order, and found by open`(_ kind: Kind) throws {
        let store = try store(kind)
        _ = try store.open()
        var written = chain(count: 3, bytes: 300_000)
        // In PostgreSQL a row has its owner's epoch.
        if kind != .postgres { written[2].epoch = 9 }
        #expect(store.append(written, expecting: 0, epoch: 0) == .durable)
        let more = chain(after: 30, count: 5000, width: 1, bytes: 1)
        #expect(store.append(more, expecting: 30, epoch: 0) == .durable)
        #expect(try rows(of: store) == written + more)
        let reader = try store.makeReader()
        #expect(try store.open().last == 5030)
        #expect(try rows(of: reader) == written + more)
    }

    @Test(arguments: Kind.allCases)
    func `rows are found by any position they hold`(_ kind: Kind) throws {
        let store = try store(kind)
        _ = try store.open()
        let first = chain(count: 2)
        // Positions jump when a log is opened.
        let second = LogRow(first: 101, last: 110, previous: 20, data: [1])
        #expect(store.append(first + [second], expecting: 0, epoch: 0) == .durable)
        let reader = try store.makeReader()
        for position in Int64(1)...10 { #expect(try reader.row(holding: position) == first[0]) }
        for position: Int64 in [0, -5, 21, 100, 111, .max] { #expect(try reader.row(holding: position) == nil) }
        #expect(try reader.row(holding: 110) == second)
        #expect(try rows(of: reader, from: 10) == first + [second])
        #expect(try rows(of: reader, from: 11) == [first[1], second])
        #expect(try rows(of: reader, from: 21) == [second])
        #expect(try rows(of: reader, from: 111) == [])
        #expect(try rows(of: reader, from: .min) == first + [second])
        #expect(try rows(of: reader, from: .max) == [])
    }

    @Test(arguments: Kind.allCases, [1, 2, 7, 100])
    func `links are followed back, short or long, to the one whose row is gone`(_ kind: Kind, _ step: Int64) throws {
        let store = try store(kind)
        _ = try store.open()
        let written = chain(count: 1000, width: 2)
        #expect(store.append(written, expecting: 0, epoch: 0) == .durable)
        let reader = try store.makeReader()
        let wanted = stride(from: 999, through: 0, by: -Int(step)).map { written[$0] }
        var found: [LogRow] = []
        let ended = try reader.follow(from: 2000) { row in
            found.append(row)
            return found.count < wanted.count ? row.first - 2 * step + 1 : nil
        }
        #expect(ended == nil && found == wanted)
        _ = try store.delete(upTo: 1000)
        found = []
        let missing = try reader.follow(from: 1999) { row in
            found.append(row)
            return row.first - 2 * step
        }
        let kept = wanted.filter { $0.last > 1000 }
        #expect(found == kept)
        #expect(missing == kept.last.map { $0.first - 2 * step })
        #expect(try reader.follow(from: 2001) { _ in nil } == 2001)
        #expect(try reader.follow(from: 0) { _ in nil } == 0)
    }

    @Test(arguments: Kind.allCases)
    func `a read ends when the body says so, and rows that were kept stay as they are`(_ kind: Kind) throws {
        let store = try store(kind)
        _ = try store.open()
        let written = chain(count: 40, bytes: 200_000)
        #expect(store.append(written, expecting: 0, epoch: 0) == .durable)
        let reader = try store.makeReader()
        var kept: [LogRow] = []
        try reader.read(from: 1) { row in
            kept.append(row)
            // This is a read within a read.
            if let again = try? reader.row(holding: row.first) { kept.append(again) }
            return kept.count < 60
        }
        #expect(kept == written.prefix(30).flatMap { [$0, $0] })
    }

    @Test(arguments: Kind.allCases)
    func `an append that expects another head or epoch is refused, and writes nothing`(_ kind: Kind) throws {
        let store = try store(kind)
        _ = try store.open()
        #expect(store.append(chain(count: 2), expecting: 0, epoch: 0) == .durable)
        #expect(store.append(chain(after: 10, count: 1), expecting: 10, epoch: 0).isDiverged)
        #expect(store.append(chain(after: 20, count: 1), expecting: 20, epoch: 1) == .fenced)
        #expect(try rows(of: store).count == 2)
        #expect(store.append(chain(after: 20, count: 1), expecting: 20, epoch: 0) == .durable)
    }

    @Test(arguments: Kind.allCases)
    func `rows that do not follow the log are refused whole`(_ kind: Kind) throws {
        let store = try store(kind)
        _ = try store.open()
        var broken = chain(count: 3)
        broken[2].previous = 19
        guard case .absent(let error) = store.append(broken, expecting: 0, epoch: 0) else {
            Issue.record("a broken chain was written")
            return
        }
        #expect(error.kind == .damaged)
        #expect(try rows(of: store) == [])
        #expect(store.append(chain(count: 3), expecting: 0, epoch: 0) == .durable)
        #expect(store.append([], expecting: 30, epoch: 0) == .durable)
    }

    @Test(arguments: Kind.allCases)
    func `delete removes whole rows, oldest first, a bounded number a call, and never the newest`(_ kind: Kind) throws {
        let store = try store(kind)
        _ = try store.open()
        let written = chain(count: 30, bytes: 1 << 20)
        #expect(store.append(written, expecting: 0, epoch: 0) == .durable)
        #expect(try store.delete(upTo: 9) == 0)
        #expect(try store.delete(upTo: 25) == 2 << 20)
        #expect(try rows(of: store) == Array(written[2...]))
        #expect(try store.delete(upTo: 1000) == 4 << 20)
        var calls = 1
        while try store.delete(upTo: 1000) > 0 { calls += 1 }
        #expect(calls == 7)
        #expect(try rows(of: store) == [written[29]])
        #expect(try store.open().last == 300)
    }

    @Test(arguments: Kind.allCases)
    func `a single row larger than the bound is deleted alone`(_ kind: Kind) throws {
        let store = try store(kind)
        _ = try store.open()
        #expect(store.append(chain(count: 3, bytes: 5 << 20), expecting: 0, epoch: 0) == .durable)
        #expect(try store.delete(upTo: 1000) == 5 << 20)
        #expect(try rows(of: store).count == 2)
    }

    @Test(arguments: Kind.allCases)
    func `a closed store refuses, and open makes it whole again`(_ kind: Kind) throws {
        let store = try store(kind)
        #expect(throws: StoreError.self) { try rows(of: store) }
        let secret = try store.open().secret
        #expect(store.append(chain(count: 1), expecting: 0, epoch: 0) == .durable)
        let reader = try store.makeReader()
        store.close()
        guard case .absent = store.append(chain(after: 10, count: 1), expecting: 10, epoch: 0) else {
            Issue.record("a closed store took rows")
            return
        }
        #expect(throws: StoreError.self) { try rows(of: reader) }
        #expect(throws: StoreError.self) { try store.delete(upTo: 1) }
        let head = try store.open()
        #expect(head.last == 10)
        #expect(head.secret == secret)
        #expect(try rows(of: reader).count == 1)
        #expect(store.bytesOnDisk() >= 100)
    }
}
