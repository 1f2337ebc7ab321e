import TestSupport
import Testing

@testable import TimerCore
@testable import TimerLog

struct DeliveryRecordTests {
    private static let base = TimeBase(
        now: Now(elapsed: 1, wallOffset: 2), boottime: 3, boot: Hash128(high: 5, low: 6))
    private static let hooked = definition("hooked", labels: [("a", "b")], webhook: [1, 2, 3], payload: [0x31])

    private func row(_ records: [UInt8]) throws -> LogRow {
        let rows = BatchRows.make(records: records, first: 1000, previous: 999, epoch: 0, base: Self.base)
        return try #require(rows.first)
    }

    private func read(_ row: LogRow) throws -> [LogRecord] {
        var found: [LogRecord] = []
        try BatchRows.read(row) { record in
            found.append(record)
            return true
        }
        return found
    }

    private static func outcomes() -> [DeliveryOutcome] {
        var failed = DeliveryOutcome(.deliveryFailed, delivery: 7 << 40, attempt: 3)
        failed.failure = .timedOut
        failed.retryAt = 1_700_000_123_456
        var answered = DeliveryOutcome(.deliveryFailed, delivery: 1, attempt: 100)
        answered.status = 503
        answered.retryAt = 1_700_000_000_000
        var dead = DeliveryOutcome(.deliveryDead, delivery: .max, attempt: 12)
        dead.reason = .attempts
        dead.status = 500
        var delivered = DeliveryOutcome(.delivered, delivery: 12, attempt: 1)
        delivered.isDetached = true
        delivered.status = 204
        return [failed, answered, dead, delivered]
    }

    @Test(arguments: outcomes())
    func `an outcome comes back as it was`(_ outcome: DeliveryOutcome) throws {
        var bytes: [UInt8] = []
        RecordCodec.append(
            outcome, version: 9, distance: 20, at: 1_700_000_100_000, definition: Self.hooked.span, to: &bytes)
        let record = try #require(try read(try row(bytes)).first)
        #expect(record.outcome == outcome)
        #expect(record.content == .event(outcome.type, outcome.reason, nil))
        #expect(record.progress.version == 9)
        #expect(record.previous == 980)
        #expect(record.isEvent && !record.isWhole && !record.owesDelivery)
        let row = try row(bytes)
        #expect(Array(row.data[record.definition]) == Array(Self.hooked.prefix(record.definition.count)))
    }

    @Test func `an outcome names no actor`() throws {
        var bytes: [UInt8] = []
        RecordCodec.append(
            Self.outcomes()[0], version: 9, distance: 20, at: 1_700_000_100_000, definition: Self.hooked.span,
            to: &bytes)
        bytes[RecordCodec.frameCount + 1] |= 0x20
        let row = try row(bytes)
        #expect(throws: StoreError.self) { try read(row) }
    }

    private static func details() -> [DeliveryDetail] {
        var waiting = DeliveryDetail(id: 5, body: 1000, slot: 0, state: .waiting)
        waiting.attempts = 4
        waiting.due = 1_700_000_555_555
        waiting.lastAttempt = LastAttempt(at: 1_700_000_300_000, status: 0, failure: .malformed)
        var dead = DeliveryDetail(id: 6, body: 1000, slot: nil, state: .dead)
        dead.attempts = 12
        dead.due = 1_700_600_000_000
        dead.lastAttempt = LastAttempt(at: 1_699_999_000_000, status: 404, failure: nil)
        dead.reason = .backlog
        var rejected = dead
        rejected.reason = .status
        var aged = dead
        (aged.reason, aged.lastAttempt) = (.age, nil)
        var redriven = waiting
        redriven.redrivenAt = 1_700_000_200_000
        var pending = DeliveryDetail(id: 7, body: 1000, slot: 0, state: .pending)
        pending.due = 1_700_000_000_000
        return [waiting, dead, rejected, aged, redriven, pending]
    }

    @Test(arguments: details())
    func `a delivery written anew brings its event along, under its own id`(_ detail: DeliveryDetail) throws {
        var progress = TimerProgress()
        progress.version = 3
        progress.updatedAt = 1_700_000_000_000
        let fire = FireDetail(scheduledAt: 1_700_000_000_000, latenessUs: 12, missed: 0)
        let effect = Effect(
            type: .fired, reason: .due, at: 1_700_000_000_000, slot: 0, progress: progress, fire: fire,
            owesDelivery: true)
        var bytes: [UInt8] = []
        RecordCodec.append(effect, .fired, distance: 0, definition: Self.hooked.span, to: &bytes)
        let original = try #require(try read(try row(bytes)).first)
        let event = Array(try row(bytes).data[original.body])
        bytes = []
        RecordCodec.append(detail, at: 1_700_000_400_000, isEvent: true, event.span, to: &bytes)
        let carriedRow = try row(bytes)
        let carried = try #require(try read(carriedRow).first)
        guard case .delivery(let found, let nested) = carried.content, let nested else {
            Issue.record("no delivery: \(carried)")
            return
        }
        #expect(found == detail)
        #expect(nested.position == detail.id)
        #expect(nested.content == original.content)
        #expect(nested.progress == original.progress)
        #expect(Array(carriedRow.data[nested.definition]) == Self.hooked)
        #expect(Array(carriedRow.data[nested.body]) == event)
        #expect(!carried.isEvent && !carried.isWhole)
        #expect(RowRecords(carriedRow).record(at: 1000) == carried)
        #expect(RowRecords(carriedRow).record(at: 1001) == nil)
    }

    @Test func `a delivery that a client changed names its timer`() throws {
        var bytes: [UInt8] = []
        let detail = DeliveryDetail(id: 5, body: 1000, slot: 0, state: .pending)
        RecordCodec.append(detail, at: 0, isEvent: false, Self.hooked.span, to: &bytes)
        let row = try row(bytes)
        let record = try #require(try read(row).first)
        #expect(record.content == .delivery(detail, event: nil))
        let definition = Array(row.data[record.definition])
        let isNamed = TimerKey(definition: definition.span, siphash: SipHash(secret: [])).names(Self.hooked.span)
        #expect(isNamed)
    }

    @Test func `a timer that is not known is not named`() throws {
        let none: [UInt8] = []
        var bytes: [UInt8] = []
        let outcome = DeliveryOutcome(.delivered, delivery: 12, attempt: 1)
        RecordCodec.append(outcome, version: 0, distance: 0, at: 5, definition: none.span, to: &bytes)
        let dropped = DeliveryDetail(id: 12, body: 1001, slot: nil, state: .stopped)
        RecordCodec.append(dropped, at: 0, isEvent: false, none.span, to: &bytes)
        let records = try read(try row(bytes))
        #expect(records.map(\.definition.count) == [0, 0])
        #expect(records.first?.outcome == outcome)
        #expect(records.last?.content == .delivery(dropped, event: nil))
    }

    @Test func `a row of deliveries with one bit wrong anywhere is refused`() throws {
        var bytes: [UInt8] = []
        for outcome in Self.outcomes() {
            RecordCodec.append(outcome, version: 1, distance: 0, at: 5, definition: Self.hooked.span, to: &bytes)
        }
        for detail in Self.details() {
            RecordCodec.append(detail, at: 5, isEvent: false, Self.hooked.span, to: &bytes)
        }
        let row = try row(bytes)
        for index in row.data.indices {
            for bit in 0..<8 {
                var damaged = row
                damaged.data[index] ^= 1 << UInt8(bit)
                #expect(throws: StoreError.self) { try BatchRows.read(damaged) { _ in true } }
            }
        }
    }
}
