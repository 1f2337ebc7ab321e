import Platform
import TestSupport
import Testing
import TimerLog

@testable import TimerCore
@testable import TimerService

struct ReplayerTests {
    /// Runs a replayer on `store` while `body` asks it.
    private func replay<Answer: Sendable>(
        _ store: any LogStore, _ ask: (Replayer, @escaping @Sendable (Answer) -> Void) -> Void
    ) throws -> Answer {
        let replayer = Replayer(Published(try ActiveLog(unfolded: store)))
        let threads = (0..<Replayer.threadCount).map { _ in Background { replayer.run() } }
        let answer = Guarded<Answer?>(nil)
        ask(replayer) { found in answer.withLock { $0 = found } }
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
            let found: Result<StoredRows, StoreError> = try replay(store) {
                $0.rows(after: Int64(position), reply: $1)
            }
            #expect(try found.get().rows == Array(rows[index...]))
        }
    }

    @Test func `one read is bounded, and the next goes on`() throws {
        let rows = chain(count: 10, bytes: Replayer.bytesPerRead / 4)
        let store = try store(rows)
        let first: Result<StoredRows, StoreError> = try replay(store) { $0.rows(after: 0, reply: $1) }
        #expect(try first.get().rows == Array(rows[..<4]))
        #expect(try first.get().through == 40)
        let next: Result<StoredRows, StoreError> = try replay(store) { $0.rows(after: 40, reply: $1) }
        #expect(try next.get().rows == Array(rows[4..<8]))
    }

    @Test func `the answers at positions, where they are`() throws {
        let rig = try Rig()
        let positions = try (1...5).map { number in
            let position = try rig.answer(UInt64(number), bytes: number)
            try rig.settle()
            return position
        }
        try rig.create("a")
        try rig.settle()
        _ = try rig.store.delete(upTo: positions[0])
        let asked = [positions[3], positions[0], positions[4], positions[4] + 1, positions[4] + 100, positions[1]]
        let found: Result<[StoredAnswer?], StoreError> = try replay(rig.store) { $0.answers(at: asked, reply: $1) }
        #expect(try found.get().map { $0?.answer.count } == [4, nil, 5, nil, nil, 2])
        rig.stop()
    }

    @Test func `a store that can't be read is told`() throws {
        let store = try store(chain(count: 3))
        store.failReads(1)
        let found: Result<[StoredAnswer?], StoreError> = try replay(store) { $0.answers(at: [1], reply: $1) }
        #expect(found == .failure(FaultyLogStore.failure))
        store.failReads(1)
        let after: Result<StoredRows, StoreError> = try replay(store) { $0.rows(after: 1, reply: $1) }
        #expect(after == .failure(FaultyLogStore.failure))
    }

    /// A log in which `a` has the events 1, 3, 5, … and `b` the others, two rows of 20.
    private func twoTimers() throws -> (rig: Rig, positions: [Int64]) {
        let rig = try Rig()
        try rig.create("a", TimerRules(.after(1 << 40)))
        try rig.create("b", TimerRules(.after(1 << 40)))
        for _ in 0..<10 {
            for command in [TimerCommand.suspend, .resume] {
                for id in ["a", "b"] { try rig.apply(id, command) }
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

    private func history(_ store: any LogStore, newest: Int64, since: Int64) throws -> Replayer.History {
        let result: Result<Replayer.History, StoreError> = try replay(store) {
            $0.history(newest: newest, since: since, reply: $1)
        }
        return try result.get()
    }

    /// The events of a timer, as a reader finds them by following the marks.
    private func events(_ store: any LogStore, _ history: Replayer.History, after since: Int64) throws -> [Int64] {
        var found: [Int64] = []
        var cursor = since
        for mark in history.marks {
            while cursor < mark {
                let after = cursor
                let result: Result<StoredRows, StoreError> = try replay(store) {
                    $0.rows(ofEventsTo: mark, after: after, reply: $1)
                }
                let read = try result.get()
                #expect(read.isWhole && !read.rows.isEmpty)
                for row in read.rows {
                    try BatchRows.read(row) { record in
                        let names = TimerKey(id: Array("a".utf8).span, siphash: SipHash(secret: [])).names(
                            row.data.span.extracting(record.definition))
                        if names && record.position > since { found.append(record.position) }
                        return true
                    }
                    cursor = row.last
                }
            }
        }
        return found
    }

    @Test func `a timer's history is its events alone, those after a position`() throws {
        let (rig, positions) = try twoTimers()
        #expect(positions.count == 22)
        for (index, since) in [
            (0, 0), (0, positions[0] - 1), (1, positions[0]), (5, positions[4]), (22, positions[21]),
        ] {
            let history = try history(rig.store, newest: positions[21], since: since)
            #expect(!history.isExpired)
            #expect(history.oldest == (index < 22 ? positions[index] : 0))
            #expect(history.isWhole == (index == 0))
            #expect(try events(rig.store, history, after: since) == Array(positions[index...]))
        }
        rig.stop()
    }

    @Test func `a history whose beginning is gone says so`() throws {
        let (rig, positions) = try twoTimers()
        while try rig.store.delete(upTo: positions[10]) > 0 {}
        let oldest = try #require(try rows(of: rig.store).first).first
        let kept = positions.filter { $0 >= oldest }
        #expect(kept.count < 22)
        let all = try history(rig.store, newest: positions[21], since: 0)
        #expect(all.isExpired && !all.isWhole && all.oldest == kept.first)
        let part = try history(rig.store, newest: positions[21], since: kept[0] - 1)
        #expect(!part.isExpired && part.oldest == kept.first)
        #expect(try events(rig.store, part, after: kept[0] - 1) == kept)
        let gone: Result<StoredRows, StoreError> = try replay(rig.store) {
            $0.rows(ofEventsTo: kept[0], after: 0, reply: $1)
        }
        #expect(try gone.get().isWhole == false)
        rig.stop()
    }

    @Test func `a long history is marks, and its walk lets others in between`() throws {
        let count = Int64(Replayer.History.stride * 20 + 7)
        var records: [UInt8] = []
        var effect = Effect(type: .created, at: 1, slot: 0, progress: TimerProgress())
        let definition = definition("a")
        for position in 1...count {
            RecordCodec.append(
                effect, effect.type ?? .created, distance: position == 1 ? 0 : 1, definition: definition.span,
                to: &records)
            effect.type = .suspended
        }
        let base = TimeBase(
            now: Now(elapsed: 0, wallOffset: 0), boottime: 0, boot: Hash128(high: 0, low: 0))
        let store = try store(BatchRows.make(records: records, first: 1, previous: 0, epoch: 0, base: base))
        let whole = try history(store, newest: count, since: 0)
        #expect(whole.isWhole && whole.oldest == 1)
        #expect(whole.marks == stride(from: count, through: 1, by: -Replayer.History.stride).reversed())
        #expect(try events(store, whole, after: 0) == Array(1...count))
        #expect(try history(store, newest: count, since: count - 1).marks == [count])
    }

    @Test func `without a log nothing can be read`() throws {
        let replayer = Replayer(Published(nil))
        let thread = Background { replayer.run() }
        let failures = Guarded<[StoreError.Kind]>([])
        let note: @Sendable (StoreError?) -> Void = { error in failures.update { $0 += error.map { [$0.kind] } ?? [] } }
        replayer.rows(after: 0) { note($0.failure) }
        replayer.rows(ofEventsTo: 2, after: 1) { note($0.failure) }
        replayer.answers(at: [1]) { note($0.failure) }
        replayer.isHeld(1) { note($0.failure) }
        replayer.history(newest: 2, since: 1) { note($0.failure) }
        try eventually("the replayer answers") { failures.value.count == 5 }
        #expect(failures.value.allSatisfy { $0 == .unavailable })
        replayer.stop()
        try thread.finish("it ends")
    }

    @Test func `what was not begun when it stops is not done`() throws {
        let replayer = Replayer(Published(try ActiveLog(unfolded: store(chain(count: 1)))))
        let asked = Guarded(0)
        for _ in 0..<100 { replayer.rows(after: 0) { _ in asked.withLock { $0 += 1 } } }
        replayer.stop()
        let thread = Background { replayer.run() }
        try thread.finish("it ends at once")
        #expect(asked.value == 0)
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
