import TestSupport
import Testing

@testable import TimerCore
@testable import TimerLog

struct RecordCodecTests {
    static let kinds =
        EventType.allCases.filter { !$0.isDelivery }.map(\.rawValue) + [32, 33, 34, 35, 36, 42, 43, 44, 45]
    private static let base = TimeBase(
        now: Now(elapsed: 1, wallOffset: 2), boottime: 3, boot: Hash128(high: 5, low: 6))

    private func row(_ samples: [SampleRecord], first: Int64 = 1000) throws -> LogRow {
        var records: [UInt8] = []
        for sample in samples { sample.append(to: &records) }
        let rows = BatchRows.make(records: records, first: first, previous: first - 1, epoch: 0, base: Self.base)
        return try #require(rows.first)
    }

    @Test(arguments: kinds)
    func `a record comes back as it was`(_ kind: UInt8) throws {
        var generator = SeededGenerator(seed: UInt64(kind))
        for _ in 0..<300 {
            let sample = SampleRecord.random(kind, &generator)
            let row = try row([sample])
            var found: [LogRecord] = []
            try BatchRows.read(row) { record in
                found.append(record)
                return true
            }
            let record = try #require(found.first)
            #expect(found.count == 1)
            #expect(record.position == 1000)
            #expect(record.at == sample.at)
            #expect(record.content == sample.content)
            #expect(record.previous == (sample.distance == 0 ? 0 : 1000 - sample.distance))
            #expect(record.progress == sample.progress)
            #expect(record.kicks == sample.kicks)
            #expect(record.stalledFor == sample.stalledFor)
            #expect(record.silentFor == sample.silentFor)
            #expect(record.nextFire == sample.nextFire)
            #expect(record.owesDelivery == sample.owesDelivery)
            #expect(Array(row.data[record.actor]) == sample.actor?.name ?? [])
            #expect(Array(row.data[record.definition]) == sample.kept)
            #expect(record.isWhole == (!sample.kept.isEmpty && sample.kept == sample.definition))
            #expect(record.isEvent == (kind < 32))
        }
    }

    @Test func `a fire is remembered when the calendar is stepped back behind it`() throws {
        for age in -2...2 as ClosedRange<Int64> {
            var generator = SeededGenerator(seed: 1)
            var sample = SampleRecord.random(EventType.suspended.rawValue, &generator)
            sample.at = 1_700_000_000_000
            sample.progress.updatedAt = sample.at
            sample.progress.lastFiredAt = sample.at - age
            try BatchRows.read(try row([sample])) { record in
                #expect(record.progress.lastFiredAt == sample.at - age)
                return true
            }
        }
    }

    @Test func `a row with one bit wrong anywhere is refused`() throws {
        var generator = SeededGenerator(seed: 7)
        let row = try row(Self.kinds.map { SampleRecord.random($0, &generator) })
        for index in row.data.indices {
            for bit in 0..<8 {
                var damaged = row
                damaged.data[index] ^= 1 << UInt8(bit)
                let error = #expect(throws: StoreError.self) { try BatchRows.read(damaged) { _ in true } }
                #expect(error?.kind == .damaged)
            }
        }
    }

    @Test func `a row cut anywhere, or with bytes behind it, is refused`() throws {
        var generator = SeededGenerator(seed: 8)
        let row = try row(Self.kinds.map { SampleRecord.random($0, &generator) })
        for count in row.data.indices {
            var damaged = row
            damaged.data.removeSubrange(count...)
            let error = #expect(throws: StoreError.self) { try BatchRows.read(damaged) { _ in true } }
            #expect(error?.kind == .damaged)
        }
        var longer = row
        longer.data.append(0)
        #expect(throws: StoreError.self) { try BatchRows.read(longer) { _ in true } }
    }

    @Test(arguments: kinds)
    func `a body that ends too soon is refused, though its checksum is right`(_ kind: UInt8) throws {
        var generator = SeededGenerator(seed: UInt64(kind) + 100)
        let sample = SampleRecord.random(kind, &generator)
        var whole: [UInt8] = []
        sample.append(to: &whole)
        let full = whole.count - RecordCodec.frameCount
        // The record's length alone shows where a whole definition or an answer ends, so that a shorter one may
        // be right.
        let isOpenEnded = !sample.kept.isEmpty && sample.kept == sample.definition || kind == RecordCodec.answerKind
        var following: [UInt8] = []
        SampleRecord.random(RecordCodec.versionFloorKind, &generator).append(to: &following)
        for count in 1..<full {
            var records = Array(whole.prefix(RecordCodec.frameCount + count))
            for index in 0..<4 { records[index] = UInt8(truncatingIfNeeded: count >> (8 * index)) }
            let rows = BatchRows.make(
                records: records + following, first: 1000, previous: 999, epoch: 0, base: Self.base)
            let row = try #require(rows.first)
            var found: [LogRecord] = []
            do throws(StoreError) {
                try BatchRows.read(row) { record in
                    found.append(record)
                    return true
                }
            } catch {
                #expect(error.kind == .damaged)
                continue
            }
            #expect(isOpenEnded, "\(count) of \(full) bytes")
            #expect(found.first?.definition.upperBound ?? 0 <= BatchHeader.count + records.count)
        }
    }

    @Test(arguments: kinds.filter { $0 < 32 })
    func `an actor costs its name and a byte, and a record without one nothing`(_ kind: UInt8) throws {
        var generator = SeededGenerator(seed: UInt64(kind) + 300)
        var sample = SampleRecord.random(kind, &generator)
        sample.actor = nil
        var plain: [UInt8] = []
        sample.append(to: &plain)
        sample.actor = Actor(Array("tmk_7".utf8))
        var named: [UInt8] = []
        sample.append(to: &named)
        #expect(named.count == plain.count + 6)
        let reason = RecordCodec.frameCount + 1
        #expect(plain[reason] & 0x20 == 0 && named[reason] == plain[reason] | 0x20)
        let place = named.count - sample.kept.count - 6
        #expect(Array(named[place...].prefix(6)) == [5] + Array("tmk_7".utf8))
        #expect(plain[(reason + 1)..<place] == named[(reason + 1)..<place])
        #expect(plain[place...] == named[(place + 6)...])
    }

    @Test(
        arguments: [
            [0], [33] + [UInt8](repeating: 0x61, count: 33), [1, 0x20], [1, 0x7F], [2, 0x61, 0xC3],
        ] as [[UInt8]])
    func `a name that no actor has is refused`(_ name: [UInt8]) throws {
        var generator = SeededGenerator(seed: 9)
        var sample = SampleRecord.random(EventType.cancelled.rawValue, &generator)
        sample.actor = Actor([0x61])
        var records: [UInt8] = []
        sample.append(to: &records)
        let place = records.count - sample.kept.count - 2
        #expect(records[place...].starts(with: [1, 0x61]))
        records.replaceSubrange(place..<place + 2, with: name)
        let count = records.count - RecordCodec.frameCount
        for index in 0..<4 { records[index] = UInt8(truncatingIfNeeded: count >> (8 * index)) }
        let rows = BatchRows.make(records: records, first: 1000, previous: 999, epoch: 0, base: Self.base)
        #expect(throws: StoreError.self) { try BatchRows.read(try #require(rows.first)) { _ in true } }
    }

    @Test func `an answer that shows a timer leaves its trace out`() throws {
        let plain = definition("t", labels: [("a", "b")], payload: [0x31])
        let parent = Array("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".utf8)
        var traced = plain
        Definition.setTrace(try #require(TraceContext(parent: parent[...])).kept, in: &traced)
        let shown = ShownTimer(
            status: 201, eventID: 7, now: Now(elapsed: 1, wallOffset: 2), progress: TimerProgress(), kicks: nil,
            definition: traced)
        #expect(ShownTimer(shown.encode())?.definition == plain)
    }

    @Test(arguments: [0, 12, 31, 35, 127].map { UInt8($0) })
    func `an unknown kind is refused`(_ kind: UInt8) throws {
        var records: [UInt8] = []
        SampleRecord(content: .versionFloor(1), at: 1).append(to: &records)
        records[RecordCodec.frameCount] = kind
        let rows = BatchRows.make(records: records, first: 1, previous: 0, epoch: 0, base: Self.base)
        #expect(throws: StoreError.self) { try BatchRows.read(try #require(rows.first)) { _ in true } }
    }

    @Test(arguments: kinds)
    func `no damage to a body does harm, though its checksum is right`(_ kind: UInt8) throws {
        var generator = SeededGenerator(seed: UInt64(kind) + 200)
        var taken = 0
        for _ in 0..<300 {
            var records: [UInt8] = []
            SampleRecord.random(kind, &generator).append(to: &records)
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                // The bytes that are no client's text come first, for the most part.
                let end = generator.chance(oneIn: 2) ? records.count : min(records.count, RecordCodec.frameCount + 40)
                let place = Int.random(in: RecordCodec.frameCount..<end, using: &generator)
                records[place] = generator.bytes(1)[0]
            }
            let rows = BatchRows.make(records: records, first: 1000, previous: 999, epoch: 0, base: Self.base)
            let row = try #require(rows.first)
            var found: [LogRecord] = []
            do throws(StoreError) {
                try BatchRows.read(row) { record in
                    found.append(record)
                    return true
                }
            } catch {
                #expect(error.kind == .damaged && found.isEmpty)
            }
            for record in found {
                taken += 1
                #expect(record.definition.upperBound <= row.data.count)
                let definition = row.data.span.extracting(record.definition)
                #expect(!record.isWhole || Definition.layout(definition) != nil)
            }
            var fold = LogFold(secret: [1, 2, 3])
            let isFolded = (try? fold.fold(row)) != nil
            #expect(!isFolded || found.count == 1)
        }
        #expect(taken > 30)
    }
}
