import Testing

@testable import TimerCore
@testable import TimerLog

/// A record as it is written, and what must be read back.
struct SampleRecord: Sendable {
    var content: LogRecord.Content
    var at: Int64
    var distance: Int64 = 0
    var progress = TimerProgress()
    var kicks: KickProgress?
    var stalledFor: Int64?
    var silentFor: Int64?
    var nextFireAt: Int64?
    var owesDelivery = false
    var definition: [UInt8] = []

    /// A record of a kind: those of events by their number, then a snapshot, an answer, a floor, a kick and a condensed row's.
    static func random(_ kind: UInt8, _ generator: inout SeededGenerator) -> SampleRecord {
        var progress = TimerProgress.random(&generator)
        switch kind {
        case RecordCodec.answerKind:
            let words = (0..<4).map { _ in generator.next() }
            let answer = StoredAnswer(
                key: Hash128(high: words[0], low: words[1]), fingerprint: Hash128(high: words[2], low: words[3]),
                answeredAt: progress.updatedAt, answer: generator.bytes(Int.random(in: 0...300, using: &generator)))
            return SampleRecord(content: .answer(answer), at: progress.updatedAt)
        case RecordCodec.versionFloorKind:
            return SampleRecord(content: .versionFloor(progress.version), at: progress.updatedAt)
        case RecordCodec.condensedKind:
            return SampleRecord(content: .condensed(restingOn: progress.version), at: progress.updatedAt)
        case RecordCodec.kickKind:
            let hash = UInt32.random(in: 0 ... .max, using: &generator)
            let base = Int64.random(in: 0 ... .max, using: &generator)
            return SampleRecord(
                content: .kick(hash: hash, base: base), at: progress.updatedAt, progress: progress,
                kicks: .random(&generator))
        default: break
        }
        let name = (0..<Int.random(in: 1...128, using: &generator)).map { _ in "x" }.joined()
        let id = generator.chance(oneIn: 2) ? name : "0190c0de-0000-7000-8000-00000000abcd"
        let labels = (0..<Int.random(in: 0...3, using: &generator)).map { ("key\($0)", "value\($0)") }
        let payload = generator.chance(oneIn: 2) ? [] : generator.bytes(Int.random(in: 1...200, using: &generator))
        let rules = TimerRules.random(&generator, wall: 1_700_000_000_000)
        var sample = SampleRecord(
            content: .snapshot(lastEvent: Int64.random(in: 0...Int64.max, using: &generator)), at: progress.updatedAt,
            progress: progress, kicks: generator.chance(oneIn: 2) ? .random(&generator) : nil,
            definition: TimerLogTests.definition(id, rules, labels: labels, payload: payload))
        guard let type = EventType(rawValue: kind) else { return sample }
        let fire = FireDetail(
            scheduledAt: generator.number(), latenessUs: generator.number(), missed: generator.number())
        sample.content = .event(
            type, EventReason.allCases.randomElement(using: &generator) ?? .none, type == .fired ? fire : nil)
        if type == .recovered { sample.stalledFor = generator.number() }
        if type == .recovered, generator.chance(oneIn: 2) { sample.silentFor = generator.number() }
        if type.showsNextFire, generator.chance(oneIn: 2) { sample.nextFireAt = generator.number() }
        sample.distance = generator.chance(oneIn: 4) ? 0 : Int64.random(in: 1...999, using: &generator)
        progress.updatedAt = sample.at
        sample.owesDelivery = generator.chance(oneIn: 3)
        return sample
    }

    /// Appends the record.
    func append(to bytes: inout [UInt8]) {
        switch content {
        case .event(let type, _, _):
            guard let effect else { return }
            RecordCodec.append(effect, type, distance: distance, definition: definition.span, to: &bytes)
        case .snapshot(let lastEvent):
            RecordCodec.appendSnapshot(progress, kicks, lastEvent: lastEvent, definition: definition.span, to: &bytes)
        case .kick(let hash, let base):
            RecordCodec.appendKick(progress, kicks ?? KickProgress(), hash: hash, base: base, to: &bytes)
        case .condensed(let last): RecordCodec.appendCondensed(restingOn: last, at: at, to: &bytes)
        case .answer(let answer): RecordCodec.append(answer, to: &bytes)
        case .versionFloor(let floor): RecordCodec.appendVersionFloor(floor, at: at, to: &bytes)
        case .will(let takesDeliveries):
            RecordCodec.appendWill(
                takesDeliveries: takesDeliveries, at: at, definition: definition.span, to: &bytes)
        case .mark(let mark): RecordCodec.append(mark, at: at, to: &bytes)
        case .delivery(let delivery, _):
            RecordCodec.append(delivery, at: at, isEvent: false, definition.span, to: &bytes)
        }
    }

    /// The effect that an event's record is of.
    private var effect: Effect? {
        guard case .event(let type, let reason, let fire) = content else { return nil }
        return Effect(
            type: type, reason: reason, at: at, slot: 0, progress: progress, kicks: kicks, fire: fire,
            stalledFor: stalledFor, silentFor: silentFor, nextFireAt: nextFireAt, owesDelivery: owesDelivery)
    }

    /// What the record says of the next fire.
    var nextFire: NextFire {
        guard case .event(let type, _, _) = content, type.showsNextFire else { return .unsaid }
        return nextFireAt.map { .at($0) } ?? .unplanned
    }

    /// What of the definition the record keeps.
    var kept: [UInt8] {
        guard let effect, !RecordCodec.holdsDefinition(effect) else { return definition }
        return Array(definition.prefix(Definition.prefixCount(definition.span) ?? 0))
    }
}

struct RecordCodecTests {
    static let kinds = EventType.allCases.filter { !$0.isDelivery }.map(\.rawValue) + [32, 33, 34, 35, 36]
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
        // Where a whole definition or an answer ends is told by the record's length alone: a shorter one may be right.
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
                // Most of what is not a client's text comes first.
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
