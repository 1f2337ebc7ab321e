import TestSupport
import Testing
import TimerCore
import TimerLog

@testable import TimerService

/// Kicks in the log: durable as any change, and bounded however many there are.
struct KickLogTests {
    private let tuning = LogCompaction.Tuning(slackBytes: 20_000, rowsPerRound: 16, bytesPerRound: 100_000)

    private func dogs(_ count: Int, _ rig: Rig) throws {
        for number in 0..<count { try rig.create("dog\(number)", TimerRules(.watchdog(1 << 40))) }
        try rig.settle()
    }

    private func rowsOfKind(_ kind: RowKind, _ rig: Rig) throws -> [LogRow] {
        try rows(of: rig.store).filter { BatchHeader.kind(of: $0) == kind }
    }

    @Test func `an answer to a kick waits for its row`() throws {
        let store = GatedLogStore(MemoryLogStore())
        let rig = try Rig(store)
        try dogs(1, rig)
        store.shut()
        let position = try rig.apply("dog0", .kick)
        #expect(rig.engine.fate(of: position) == .pending)
        let shown = rig.engine.turn { turn in
            turn.find(rig.key("dog0")).map { slot in
                turn.read { (scheduler: borrowing Scheduler) in scheduler.lastRecord(slot) }
            }
        }
        #expect(shown == position)
        store.unshut()
        #expect(try rig.fate(position) == .durable)
        rig.stop()
    }

    @Test func `a client that waits for a lost kick learns that it is lost`() throws {
        let store = FaultyLogStore()
        let rig = try Rig(store)
        try dogs(2, rig)
        store.plan(.unknownAndLost)
        let position = try rig.apply("dog0", .kick)
        #expect(try rig.fate(position) == .lost)
        try eventually("storage works again") { rig.locked { !$0.storageFails } }
        #expect(rig.live["dog0"]?.kicks?.kickCount == 0)
        try rig.apply("dog0", .kick)
        try rig.expectFoldIsLive()
        #expect(rig.live["dog0"]?.kicks?.kickCount == 1)
        rig.stop()
    }

    @Test func `kicks stand in rows of their own, and streams are not told`() throws {
        let rig = try Rig()
        try dogs(3, rig)
        let before = rig.engine.durableHead
        try rig.change { turn throws(ServiceError) in
            _ = try turn.apply(.kick, rig.key("dog0"), if: .none)
            _ = try turn.apply(.suspend, rig.key("dog1"), if: .none)
            _ = try turn.apply(.kick, rig.key("dog2"), if: .none)
            _ = try turn.apply(.cancel, rig.key("dog2"), if: .none)
        }
        try rig.settle()
        let events = try rig.records(from: before + 1).filter(\.isEvent)
        #expect(events.count == 2)
        for row in try rowsOfKind(.events, rig) {
            try BatchRows.read(row) { record in
                if case .kick = record.content { Issue.record("a kick in a row of events") }
                return true
            }
        }
        #expect(try rowsOfKind(.kicks, rig).count == 1)
        let shown = try #require(rig.hub.rows(after: before))
        #expect(shown.rows.allSatisfy { BatchHeader.kind(of: $0) != .kicks })
        #expect(shown.through == rig.engine.durableHead)
        try rig.expectFoldIsLive()
        rig.stop()
    }

    @Test func `a batch of kicks alone is one row`() throws {
        let rig = try Rig()
        try dogs(3, rig)
        let before = try rows(of: rig.store).count
        try rig.change { turn throws(ServiceError) in
            for number in 0..<3 { _ = try turn.apply(.kick, rig.key("dog\(number)"), if: .none) }
        }
        try rig.settle()
        #expect(try rows(of: rig.store).count == before + 1)
        try rig.expectFoldIsLive()
        rig.stop()
    }

    @Test func `a kick that shares its batch with a receiver's stop does not undo it`() throws {
        let gate = GatedLogStore(MemoryLogStore())
        let rig = try Rig(gate)
        var rules = TimerRules(.watchdog(1_000_000))
        rules.deliveries = EventTypes(.fired)
        try rig.change { turn throws(ServiceError) in
            var bytes = definition("dog", rules, webhook: [1])
            _ = try turn.create(rig.key("dog"), definition: &bytes)
        }
        try rig.apply("dog", .fire)
        try rig.settle()
        var isLast = true
        var restarts = 0
        let ready = rig.engine.takeReady(limit: 1, isLast: &isLast, restarts: &restarts)
        let attempt = try #require(rig.begin(ready.map(\.id)).first)
        gate.shut()
        try rig.create("other")
        try eventually("a batch is under way") { gate.isHolding }
        try rig.apply("dog", .kick)
        var outcome = DeliveryOutcome(.deliveryDead, delivery: attempt.id, attempt: 1)
        outcome.reason = .gone
        _ = rig.engine.settle([AttemptEnd(outcome: outcome)][...])
        gate.unshut()
        try rig.settle()
        #expect(try #require(rig.progress("dog")).flags.contains(.webhookStopped))
        try rig.expectFoldIsLive()
        rig.stop()
    }

    @Test(arguments: [1, 40])
    func `many kicks take a bounded part of the log, and cost no event`(dogCount: Int) throws {
        let rig = try Rig()
        let compactor = LogCompaction(rig.log, CompactionPacing(), tuning: tuning) { Issue.record("\($0)") }
        try dogs(dogCount, rig)
        var generator = SeededGenerator(seed: 8)
        var largest = 0
        for round in 0..<300 {
            try rig.change { turn throws(ServiceError) in
                for _ in 0..<20 {
                    let number = Int.random(in: 0..<dogCount, using: &generator)
                    _ = try turn.apply(.kick, rig.key("dog\(number)"), if: .none)
                }
            }
            if round % 10 == 0 { try rig.create("event\(round)") }
            try rig.settle()
            while try compactor.round(try rig.store.makeReader()) {}
            largest = max(largest, rig.log.trim.bytes.kicks)
        }
        #expect(rig.log.trim.bytes == RowBytes(try rows(of: rig.store)))
        let perDog = 80
        #expect(largest < tuning.slackBytes + 4 * dogCount * perDog + 20_000)
        #expect(try rowsOfKind(.condensed, rig).count > 3)
        let created = try rig.records().count { if case .event(.created, _, _) = $0.content { true } else { false } }
        #expect(created == dogCount + 30)
        try rig.expectFoldIsLive()
        rig.stop()
        let again = try Rig(rig.store, time: rig.time)
        #expect(again.live.differences(from: rig.live) == [])
        again.stop()
    }

    @Test(arguments: [1, 2, 5, 256])
    func `kicks without events leave one row, however many passes there are`(rowsPerRound: Int) throws {
        let rig = try Rig()
        var tuning = tuning
        tuning.rowsPerRound = rowsPerRound
        let compactor = LogCompaction(rig.log, CompactionPacing(), tuning: tuning) { Issue.record("\($0)") }
        try dogs(1, rig)
        for _ in 0..<1500 {
            try rig.apply("dog0", .kick)
            try rig.settle()
            while try compactor.round(try rig.store.makeReader()) {}
        }
        let left = try rowsOfKind(.condensed, rig).count
        // A round that reads one row can't join it with another.
        #expect(left > 0 && (left <= 2 || rowsPerRound == 1))
        #expect(rig.log.trim.bytes == RowBytes(try rows(of: rig.store)))
        try rig.expectFoldIsLive()
        rig.stop()
    }

    @Test func `kicks among events that are not kept leave nothing uncounted behind`() throws {
        var configuration = EngineConfiguration()
        configuration.retainMilliseconds = 0
        let rig = try Rig(MemoryLogStore(), configuration)
        let compactor = LogCompaction(rig.log, CompactionPacing(), tuning: tuning) { Issue.record("\($0)") }
        try dogs(2, rig)
        for round in 0..<1500 {
            try rig.change { turn throws(ServiceError) in
                for _ in 0..<4 { _ = try turn.apply(.kick, rig.key("dog0"), if: .none) }
                _ = try turn.apply(round % 2 == 0 ? .suspend : .resume, rig.key("dog1"), if: .none)
            }
            try rig.settle()
            rig.time.pass(milliseconds: 10)
            while try compactor.round(try rig.store.makeReader()) {}
        }
        try eventually("what was let go is deleted") {
            rig.log.trim.bytes == RowBytes(try rows(of: rig.store))
        }
        #expect(rig.store.bytesOnDisk() < 4 * tuning.slackBytes)
        try rig.expectFoldIsLive()
        rig.stop()
    }

    @Test func `the last kick of a quiet watchdog survives every condensing`() throws {
        let rig = try Rig()
        let compactor = LogCompaction(rig.log, CompactionPacing(), tuning: tuning) { Issue.record("\($0)") }
        try dogs(2, rig)
        try rig.apply("dog0", .kick)
        for _ in 0..<3000 { try rig.apply("dog1", .kick) }
        try rig.settle()
        for _ in 0..<1000 {
            try rig.apply("dog1", .kick)
            try rig.settle()
            while try compactor.round(try rig.store.makeReader()) {}
        }
        #expect(rig.live["dog0"]?.kicks?.kickCount == 1)
        try rig.expectFoldIsLive()
        rig.stop()
    }
}
