import TestSupport
import Testing

@testable import TimerCore
@testable import TimerLog

/// Records of timers and deliveries that came from another server.
struct MoveRecordTests {
    private static let base = TimeBase(
        now: Now(elapsed: 1, wallOffset: 2), boottime: 3, boot: Hash128(high: 5, low: 6))
    private static let hooked = definition("hooked", labels: [("a", "b")], webhook: [1, 2, 3], payload: [0x31])

    private func record(_ bytes: [UInt8]) throws -> LogRecord {
        let rows = BatchRows.make(records: bytes, first: 1000, previous: 999, epoch: 0, base: Self.base)
        var found: [LogRecord] = []
        try BatchRows.read(try #require(rows.first)) { record in
            found.append(record)
            return true
        }
        return try #require(found.first)
    }

    private static func fired() -> Effect {
        var progress = TimerProgress()
        progress.version = 7
        progress.fireCount = 3
        var effect = Effect(.fired, at: 1_700_000_000_000, progress: progress)
        effect.reason = .due
        effect.fire = FireDetail(scheduledAt: 1_699_999_999_000, latenessUs: 12, missed: 1)
        return effect
    }

    @Test func `the event of a delivery keeps its actor and its trace`() throws {
        let parent = Array("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".utf8)
        let trace = try #require(TraceContext(parent: parent[...]))
        var definition = Self.hooked
        Definition.setTrace(trace.kept, in: &definition)
        let event = RecordCodec.event(Self.fired(), by: .token, definition: definition.span)
        var bytes: [UInt8] = []
        RecordCodec.append(
            DeliveryDetail(id: 1000, body: 1000, slot: 0, state: .pending), origin: 5, at: 1_700_000_000_000,
            isEvent: true, event.span, to: &bytes)
        let rows = BatchRows.make(records: bytes, first: 1000, previous: 999, epoch: 0, base: Self.base)
        let data = try #require(rows.first).data
        guard case .delivery(_, let told?) = try record(bytes).content else {
            Issue.record("this is no delivery with its event")
            return
        }
        #expect(Array(data[told.actor]) == Actor.token.name)
        #expect(Array(data[told.definition]) == definition)
    }

    @Test(arguments: [nil, 5, 1000, Int64.max] as [Int64?])
    func `a delivery keeps the id that its event has elsewhere`(_ origin: Int64?) throws {
        let detail = DeliveryDetail(id: 1000, body: 1000, slot: 0, state: .pending)
        let event = RecordCodec.event(Self.fired(), definition: Self.hooked.span)
        var bytes: [UInt8] = []
        RecordCodec.append(
            detail, origin: origin, at: 1_700_000_000_000, isEvent: true, event.span, to: &bytes)
        guard case .delivery(let found, let told?) = try record(bytes).content else {
            Issue.record("this is no delivery with its event")
            return
        }
        #expect(found.id == 1000)
        #expect(told.position == origin ?? 1000)
        #expect(told.progress.version == 7 && told.progress.fireCount == 3 && told.owesDelivery)
        #expect(told.content == .event(.fired, .due, Self.fired().fire))
    }

    @Test func `an imported timer keeps the instant of its last change`() throws {
        var progress = TimerProgress()
        progress.version = 4
        progress.updatedAt = 1_699_000_000_000
        var effect = Effect(.created, at: 1_700_000_000_000, progress: progress)
        effect.reason = .imported
        var bytes: [UInt8] = []
        RecordCodec.append(effect, .created, distance: 0, definition: Self.hooked.span, to: &bytes)
        let record = try record(bytes)
        #expect(record.at == 1_700_000_000_000)
        #expect(record.progress == progress)
        #expect(record.content == .event(.created, .imported, nil))
    }

    @Test func `the first progress of an import begins at its own record`() throws {
        let progress = ImportProgress(
            export: Hash128(high: 1, low: 2), part: 0, fingerprint: Hash128(high: 3, low: 4), at: 5)
        var bytes: [UInt8] = []
        RecordCodec.append(progress, to: &bytes)
        guard case .importProgress(let found) = try record(bytes).content else {
            Issue.record("this is no progress of an import")
            return
        }
        #expect(found.begin == 1000)
    }

    @Test(arguments: [0, 1, Int64.max]) func `an import keeps the floor of versions`(_ floor: Int64) throws {
        var progress = ImportProgress(
            export: Hash128(high: 1, low: 2), part: 7, fingerprint: Hash128(high: 3, low: 4), at: 5)
        (progress.begin, progress.isCopy, progress.by, progress.versionFloor) = (9, true, .token, floor)
        var bytes: [UInt8] = []
        RecordCodec.append(progress, to: &bytes)
        #expect(try record(bytes).content == .importProgress(progress))
        var table = ImportTable()
        table.note(progress)
        #expect(table.versionFloor == floor)
        (progress.isWhole, progress.isLast) = (true, true)
        table.note(progress)
        #expect(table.versionFloor == 0)
    }

    @Test func `an export of which nothing came for the longest time is forgotten`() {
        var table = ImportTable()
        for number in 0...ImportTable.most {
            table.note(
                ImportProgress(
                    export: Hash128(high: UInt64(number), low: 0), part: 0, fingerprint: Hash128(high: 0, low: 0),
                    at: Int64(number)))
        }
        #expect(table.all.count == ImportTable.most)
        #expect(table.progress(of: Hash128(high: 0, low: 0)) == nil)
        #expect(table.progress(of: Hash128(high: 1, low: 0)) != nil)
    }
}
