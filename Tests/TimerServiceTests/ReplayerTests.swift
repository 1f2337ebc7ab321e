import Platform
import Testing
import TimerLog

@testable import TimerCore
@testable import TimerService

struct ReplayerTests {
    /// Runs a replayer on `store` while `body` asks it.
    private func replay<Answer: Sendable>(
        _ store: any LogStore, _ ask: (Replayer, @escaping @Sendable (Answer) -> Void) -> Void
    ) throws -> Answer {
        let replayer = Replayer(store)
        let threads = (0..<Replayer.threadCount).map { _ in Background { replayer.run() } }
        let answer = Shared<Answer?>(nil)
        ask(replayer) { found in answer.change { $0 = found } }
        try eventually("the replayer answers") { answer.value != nil }
        replayer.stop()
        for thread in threads { try thread.finish("its threads end") }
        return try #require(answer.value)
    }

    private func store(_ rows: [LogRow]) throws -> FaultyLogStore {
        let store = FaultyLogStore()
        _ = try store.open()
        #expect(store.append(rows, expecting: 0, epoch: 0) == .durable)
        return store
    }

    @Test func `the rows after a position, until the end`() throws {
        let rows = chain(count: 3)
        let store = try store(rows)
        for (position, index) in [(0, 0), (5, 0), (9, 0), (10, 1), (29, 2), (30, 3)] {
            let found: Result<[LogRow], StoreError> = try replay(store) { $0.rows(after: Int64(position), reply: $1) }
            #expect(found == .success(Array(rows[index...])))
        }
    }

    @Test func `one read is bounded, and the next goes on`() throws {
        let rows = chain(count: 10, bytes: Replayer.bytesARead / 4)
        let store = try store(rows)
        let first: Result<[LogRow], StoreError> = try replay(store) { $0.rows(after: 0, reply: $1) }
        #expect(first == .success(Array(rows[..<4])))
        let next: Result<[LogRow], StoreError> = try replay(store) { $0.rows(after: 40, reply: $1) }
        #expect(next == .success(Array(rows[4..<8])))
        let positions: [Int64] = [5, 6, 7, 21, 35, 41, 50, 61]
        let held: Result<[LogRow], StoreError> = try replay(store) { $0.rows(holding: positions, reply: $1) }
        #expect(held == .success([rows[0], rows[2], rows[3], rows[4]]))
    }

    @Test func `rows that hold positions, up to the first that is gone`() throws {
        let rows = chain(count: 5)
        let store = try store(rows)
        let found: Result<[LogRow], StoreError> = try replay(store) { $0.rows(holding: [12, 44, 60], reply: $1) }
        #expect(found == .success([rows[1], rows[4]]))
        _ = try store.delete(upTo: 20)
        let none: Result<[LogRow], StoreError> = try replay(store) { $0.rows(holding: [12, 44], reply: $1) }
        #expect(none == .success([]))
    }

    @Test func `the row that holds a position, if it is there`() throws {
        let rows = chain(count: 3)
        let store = try store(rows)
        _ = try store.delete(upTo: 10)
        for (position, row) in [(Int64(10), nil), (11, rows[1]), (30, rows[2]), (31, nil)] {
            let found: Result<LogRow?, StoreError> = try replay(store) { $0.row(holding: position, reply: $1) }
            #expect(found == .success(row))
        }
    }

    @Test func `a store that can't be read is told`() throws {
        let store = try store(chain(count: 3))
        store.failReads(1)
        let found: Result<LogRow?, StoreError> = try replay(store) { $0.row(holding: 1, reply: $1) }
        #expect(found == .failure(FaultyLogStore.failure))
        store.failReads(1)
        let after: Result<[LogRow], StoreError> = try replay(store) { $0.rows(after: 1, reply: $1) }
        #expect(after == .failure(FaultyLogStore.failure))
    }

    /// A log in which `a` has the events 1, 3, 5, … and `b` the others, two rows of 20.
    private func twoTimers() throws -> (rig: Rig, positions: [Int64]) {
        let rig = try Rig()
        try rig.create("a", TimerRules(.after(1 << 40)))
        try rig.create("b", TimerRules(.after(1 << 40)))
        for _ in 0..<10 {
            for command in [TimerCommand.suspend, .resume] {
                for id in ["a", "b"] { try rig.tell(id, command) }
                try rig.settle()
            }
        }
        var positions: [Int64] = []
        var next = try #require(rig.live["a"]).lastEvent
        let previous = try Dictionary(uniqueKeysWithValues: rig.records().map { ($0.position, $0.previous) })
        while next != 0 {
            positions.insert(next, at: 0)
            next = try #require(previous[next])
        }
        return (rig, positions)
    }

    private func history(
        _ rig: Rig, newest: Int64, since: Int64, keepsAll: Bool = true
    ) throws -> Replayer.History {
        try replay(rig.store) { $0.history(newest: newest, since: since, keepsAll: keepsAll, reply: $1) }
    }

    @Test func `a timer's history is its events alone, those after a position`() throws {
        let (rig, positions) = try twoTimers()
        #expect(positions.count == 22)
        for (index, since) in [
            (0, 0), (0, positions[0] - 1), (1, positions[0]), (5, positions[4]), (22, positions[21]),
        ] {
            guard case .positions(let found) = try history(rig, newest: positions[21], since: since) else {
                Issue.record("no history since \(since)")
                continue
            }
            #expect(found == Array(positions[index...]))
        }
        rig.stop()
    }

    @Test func `a history whose beginning is gone is expired, or begins later`() throws {
        let (rig, positions) = try twoTimers()
        while try rig.store.delete(upTo: positions[10]) > 0 {}
        let oldest = try #require(try rows(of: rig.store).first).first
        let kept = positions.filter { $0 >= oldest }
        #expect(kept.count < 22)
        guard case .expired(let found) = try history(rig, newest: positions[21], since: 0) else {
            Issue.record("not expired")
            return
        }
        #expect(found == kept.first)
        guard case .positions(let rest) = try history(rig, newest: positions[21], since: 0, keepsAll: false) else {
            Issue.record("no history")
            return
        }
        #expect(rest == kept)
        guard case .positions(kept) = try history(rig, newest: positions[21], since: kept[0] - 1) else {
            Issue.record("what was not asked for is missed")
            return
        }
        rig.stop()
    }

    @Test func `a history that is too long says so`() throws {
        var records: [UInt8] = []
        var effect = Effect(type: .created, at: 1, slot: 0, progress: TimerProgress())
        let definition = definition("a")
        for position in 1...Int64(Replayer.historyLimit + 1) {
            RecordCodec.append(
                effect, effect.type ?? .created, distance: position == 1 ? 0 : 1, definition: definition.span,
                to: &records)
            effect.type = .suspended
        }
        let base = TimeBase(
            now: Now(elapsed: 0, wallOffset: 0), boottime: 0, boot: Hash128(high: 0, low: 0))
        let store = try store(BatchRows.make(records: records, first: 1, previous: 0, epoch: 0, base: base))
        let newest = Int64(Replayer.historyLimit + 1)
        let whole: Replayer.History = try replay(store) {
            $0.history(newest: newest, since: 0, keepsAll: true, reply: $1)
        }
        guard case .long = whole else {
            Issue.record("\(whole)")
            return
        }
        let part: Replayer.History = try replay(store) {
            $0.history(newest: newest, since: 1, keepsAll: true, reply: $1)
        }
        guard case .positions(let found) = part else {
            Issue.record("\(part)")
            return
        }
        #expect(found == Array(2...newest))
    }
}
