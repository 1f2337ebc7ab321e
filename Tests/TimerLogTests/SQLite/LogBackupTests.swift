import Foundation
import Platform
import TestSupport
import Testing
import TimerCore

@testable import TimerLog

struct LogBackupTests {
    let directory: TemporaryDirectory
    let store: SQLiteLogStore

    init() throws {
        directory = try TemporaryDirectory()
        store = SQLiteLogStore(directory: directory.file("data"))
        _ = try store.open()
    }

    private var data: String { directory.file("data") }
    private var target: String { directory.file("copy") }

    @Test func `a copy holds every row and the secret, and can be served`() throws {
        let written = chain(count: 50, bytes: 60_000)
        #expect(store.append(written, expecting: 0, epoch: 0) == .durable)
        let summary = try LogBackup.copy(from: data, to: target)
        #expect(summary == LogBackup.Summary(rows: 50, bytes: 3_000_000, head: 500))
        #expect(try FileManager.default.contentsOfDirectory(atPath: target) == ["timers.db"])
        #expect(try rows(of: SQLiteLogStore.openReader(directory: target)) == written)
        let served = SQLiteLogStore(directory: target)
        var head = try served.open()
        #expect(head.branchedAt != nil)
        head.branchedAt = nil
        #expect(try head == store.open())
        #expect(try rows(of: served) == written)
        #expect(served.append(chain(after: 500, count: 1), expecting: 500, epoch: 0) == .durable)
    }

    @Test func `a copy is told from the original until something was appended to it`() throws {
        #expect(store.append(chain(count: 5), expecting: 0, epoch: 0) == .durable)
        #expect(try store.open().branchedAt == nil)
        let before = Clocks.realtime() / 1_000_000
        _ = try LogBackup.copy(from: data, to: target)
        let served = SQLiteLogStore(directory: target)
        let branchedAt = try #require(try served.open().branchedAt)
        #expect((before...Clocks.realtime() / 1_000_000).contains(branchedAt))
        // Neither a restart nor an append that fails changes that.
        served.close()
        #expect(try served.open().branchedAt == branchedAt)
        #expect(served.append(chain(after: 40, count: 1), expecting: 40, epoch: 0).isDiverged)
        #expect(try served.open().branchedAt == branchedAt)
        #expect(served.append(chain(after: 50, count: 1), expecting: 50, epoch: 0) == .durable)
        #expect(try served.open().branchedAt == nil)
        served.close()
        #expect(try served.open().branchedAt == nil)
    }

    @Test func `a log whose end was cut counts as a copy`() throws {
        #expect(store.append(chain(count: 5), expecting: 0, epoch: 0) == .durable)
        store.close()
        #expect(try LogRepair.cut(directory: data, after: 50).rows == 0)
        #expect(try store.open().branchedAt == nil)
        store.close()
        #expect(try LogRepair.cut(directory: data, after: 30).rows == 2)
        #expect(try store.open().branchedAt != nil)
    }

    @Test func `an empty log can be copied`() throws {
        #expect(try LogBackup.copy(from: data, to: target) == LogBackup.Summary(rows: 0, bytes: 0, head: 0))
        #expect(try SQLiteLogStore(directory: target).open().secret == store.open().secret)
    }

    @Test func `a target with something in it is left alone`() throws {
        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
        try directory.write("copy/precious", Data([1]))
        let error = #expect(throws: StoreError.self) { try LogBackup.copy(from: data, to: target) }
        #expect(error?.kind == .unusable)
        #expect(try FileManager.default.contentsOfDirectory(atPath: target) == ["precious"])
    }

    @Test func `what is no log can't be copied`() throws {
        #expect(throws: StoreError.self) { try LogBackup.copy(from: directory.path, to: target) }
        #expect(!FileManager.default.fileExists(atPath: target))
    }

    @Test func `a damaged log is named, and no copy appears`() throws {
        #expect(store.append(chain(count: 9), expecting: 0, epoch: 0) == .durable)
        store.close()
        try SQLiteConnection(path: data + "/timers.db", .readWrite).execute("DELETE FROM log WHERE first = 41")
        let error = #expect(throws: StoreError.self) { try LogBackup.copy(from: data, to: target) }
        #expect(error?.kind == .damaged)
        #expect(error?.description.contains("position 51 ") == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: target) == [])
    }

    @Test func `rows deleted behind the copy stay in it, rows appended after its instant do not`() throws {
        let written = chain(count: 64, bytes: 64 << 10)
        #expect(store.append(written, expecting: 0, epoch: 0) == .durable)
        var reads = 0
        let summary = try LogBackup.copy(from: data, to: target) { _ in
            reads += 1
            guard reads == 2 else { return }
            _ = try? store.delete(upTo: 50)
            #expect(store.append(chain(after: 640, count: 1), expecting: 640, epoch: 0) == .durable)
        }
        #expect(reads > 2)
        #expect(summary.head == 640)
        #expect(try rows(of: SQLiteLogStore.openReader(directory: target)) == written)
    }

    @Test func `rows deleted before the copy reached them start it over with a later instant`() throws {
        let written = chain(count: 64, bytes: 64 << 10)
        let later = chain(after: 640, count: 1)
        #expect(store.append(written, expecting: 0, epoch: 0) == .durable)
        var reads = 0
        let summary = try LogBackup.copy(from: data, to: target) { _ in
            reads += 1
            guard reads == 1 else { return }
            _ = try? store.delete(upTo: 400)
            #expect(store.append(later, expecting: 640, epoch: 0) == .durable)
        }
        #expect(summary.head == 650)
        #expect(summary.rows == 25)
        #expect(try rows(of: SQLiteLogStore.openReader(directory: target)) == Array(written[40...]) + later)
    }

    @Test func `a log compacted faster than it is read is given up after a bounded number of tries`() throws {
        var head: Int64 = 0
        func replace() {
            #expect(store.append(chain(after: head, count: 30, bytes: 64 << 10), expecting: head, epoch: 0) == .durable)
            _ = try? store.delete(upTo: head)
            head += 300
        }
        replace()
        var reads = 0
        let error = #expect(throws: StoreError.self) {
            try LogBackup.copy(from: data, to: target) { _ in
                reads += 1
                replace()
            }
        }
        #expect(error?.description.contains("compacted") == true)
        #expect(reads == 2 * LogBackup.attempts || reads == LogBackup.attempts)
        #expect(try FileManager.default.contentsOfDirectory(atPath: target) == [])
    }

    @Test(arguments: [0, 55])
    func `rows condensed under the copy take it on to what they rest on`(firstRow: Int) throws {
        var record: [UInt8] = []
        RecordCodec.appendVersionFloor(1, at: 1, to: &record)
        let base = TimeBase(now: Now(elapsed: 1, wallOffset: 0), boottime: 1, boot: Hash128(high: 1, low: 1))
        func kicks(after position: Int64) -> [LogRow] {
            let records = (0..<100).flatMap { _ in record }
            return BatchRows.make(
                kind: .kicks, records: records, first: position + 1, previous: position, epoch: 0, base: base)
        }
        // The first read ends within the rows of kicks.
        let head = chain(count: 15, width: 1, bytes: 64 << 10)
        let run = (0..<60).flatMap { kicks(after: 15 + 100 * $0) }
        let tail = chain(after: 6015, count: 1, width: 1)
        #expect(store.append(head + run + tail, expecting: 0, epoch: 0) == .durable)
        let again = kicks(after: 6016)
        var reads = 0
        let summary = try LogBackup.copy(from: data, to: target) { _ in
            reads += 1
            guard reads == 1 else { return }
            #expect(store.append(again, expecting: 6016, epoch: 0) == .durable)
            let row = BatchRows.condense(Array(run[firstRow...]), restingOn: 6116)
            #expect(throws: Never.self) { try store.replace(with: [row].compactMap { $0 }) }
        }
        let copied = try rows(of: SQLiteLogStore.openReader(directory: target))
        var verifier = ChainVerifier()
        for row in copied { try verifier.check(row) }
        #expect(copied.contains { BatchHeader.kind(of: $0) == .condensed })
        #expect(copied.last == again[0])
        #expect(summary.head == 6116 && reads > 1)
    }

    @Test func `a row takes the place of others, and the log is as whole as before`() throws {
        let written = chain(count: 9)
        #expect(store.append(written, expecting: 0, epoch: 0) == .durable)
        var row = LogRow(first: 21, last: 50, previous: 20, data: [1, 2, 3])
        try store.replace(with: [row])
        #expect(try rows(of: store) == Array(written[..<2]) + [row] + Array(written[5...]))
        row.data = [4]
        try store.replace(with: [row])
        #expect(try store.makeReader().row(holding: 33) == row)
        #expect(try store.open().last == 90)
        #expect(store.append(chain(after: 90, count: 1), expecting: 90, epoch: 0) == .durable)
    }

    @Test func `copies beside a writer that appends and deletes are whole`() throws {
        #expect(store.append(chain(count: 20, bytes: 50_000), expecting: 0, epoch: 0) == .durable)
        let store = store
        let writer = Thread(name: "writer") {
            for index in Int64(20)..<400 {
                let row = chain(after: index * 10, count: 1, bytes: 50_000)
                guard store.append(row, expecting: index * 10, epoch: 0) == .durable else { return }
                if index % 20 == 0 { _ = try? store.delete(upTo: index * 10 - 1000) }
            }
        }
        for number in 0..<8 {
            let copy = "\(target)\(number)"
            let summary = try LogBackup.copy(from: data, to: copy)
            let found = try rows(of: SQLiteLogStore.openReader(directory: copy))
            let first = try #require(found.first)
            #expect(found == chain(after: first.previous, count: found.count, bytes: 50_000))
            #expect(found.last?.last == summary.head)
            #expect(found.count == summary.rows)
        }
        writer.join()
        #expect(try store.open().last == 4000)
    }
}
