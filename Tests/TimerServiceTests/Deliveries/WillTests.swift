import Platform
import TestSupport
import Testing
import TimerCore
import TimerLog
import Webhooks

@testable import TimerService

/// Dead letters of timers that are deleted.
struct WillTests {
    private func create(_ rig: Rig, url: String) throws {
        var rules = TimerRules(.every(1_000_000_000, first: .period))
        rules.deliveries = EventTypes(.fired)
        try rig.change { turn throws(ServiceError) in
            var bytes = definition("t", rules, webhook: WebhookConfiguration(url: url).encode())
            _ = try turn.put(rig.key("t"), definition: &bytes, if: .none, unless: .none)
        }
    }

    /// Fires the timer and makes its delivery a dead letter. Returns the delivery's id.
    private func die(_ rig: Rig) throws -> Int64 {
        try rig.apply("t", .fire)
        try rig.settle()
        let id = try #require(begin(rig)).id
        var outcome = DeliveryOutcome(.deliveryDead, delivery: id, attempt: 12)
        outcome.reason = .attempts
        outcome.status = 500
        #expect(rig.engine.settle([AttemptEnd(outcome: outcome)][...]).taken == 1)
        try rig.settle()
        return id
    }

    private func begin(_ rig: Rig) -> DeliveryAttempt? {
        var isLast = true
        var restarts = 0
        let ready = rig.engine.takeReady(limit: 100, isLast: &isLast, restarts: &restarts)
        return rig.begin(ready.map(\.id)).first
    }

    private func delete(_ rig: Rig) throws {
        try rig.change { turn throws(ServiceError) in try turn.delete(rig.key("t"), if: .none) }
        rig.time.pass(milliseconds: 10)
    }

    private func redrive(_ rig: Rig, _ id: Int64) throws -> RedriveVerdict? {
        var verdict: RedriveVerdict?
        try rig.change { turn throws(ServiceError) in verdict = try turn.redrive(id, definition: definition("t")) }
        try rig.settle()
        return verdict
    }

    private func isTimerDeleted(_ rig: Rig, _ id: Int64) -> Bool {
        rig.engine.turn { $0.isTimerDeleted(id, definition: definition("t")) }
    }

    /// The URL of an attempt whose timer is deleted.
    private func url(_ attempt: DeliveryAttempt, _ rig: Rig) throws -> String? {
        #expect(attempt.webhook == nil)
        let reader = try rig.store.makeReader()
        var bodies = EventReader { position throws(StoreError) in try reader.row(holding: position) }
        guard let left = try bodies.will(at: try #require(attempt.will)),
            let webhook = Definition.layout(left.span)?.webhook
        else { return nil }
        return WebhookConfiguration(Array(left[webhook]).span)?.url
    }

    /// The events that may come between the deletion and the redrive.
    enum Meanwhile: CaseIterable {
        case nothing, laterTimer, restart, compaction, otherLives
    }

    @Test(arguments: Meanwhile.allCases)
    func `a dead letter goes by the webhook as it stood when its timer was deleted`(_ meanwhile: Meanwhile) throws {
        let store = MemoryLogStore()
        var configuration = EngineConfiguration()
        configuration.retainMilliseconds = 0
        var rig = try Rig(store, configuration)
        try create(rig, url: "http://first.test/")
        let id = try die(rig)
        #expect(!isTimerDeleted(rig, id))
        // A PUT does not end the timer's life.
        try create(rig, url: "http://last.test/")
        #expect(!isTimerDeleted(rig, id))
        try delete(rig)
        if meanwhile != .nothing { try create(rig, url: "http://later.test/") }
        switch meanwhile {
        case .nothing, .laterTimer: break
        case .restart:
            let time = rig.time
            try rig.settle()
            rig.stop()
            rig = try Rig(store, configuration, time: time)
        case .compaction:
            // Many records that are not needed any more.
            for _ in 0..<200 {
                try rig.create("n", payload: [UInt8](repeating: 7, count: 500))
                try rig.change { turn throws(ServiceError) in try turn.delete(rig.key("n"), if: .none) }
            }
            try rig.settle()
            rig.time.pass(milliseconds: 10_000)
            try rig.create("end")
            try rig.settle()
            let tuning = LogCompaction.Tuning(slackBytes: 0, rowsPerRound: 1000, bytesPerRound: .max)
            let compactor = LogCompaction(rig.log, CompactionPacing(), tuning: tuning) { Issue.record("\($0)") }
            let before = rig.engine.turn { $0.delivery(id) }?.will
            for _ in 0..<3 { while try compactor.round(try store.makeReader()) {} }
            #expect(rig.engine.turn { $0.delivery(id) }?.will != before)
        case .otherLives:
            for number in 0..<3 {
                _ = try die(rig)
                try delete(rig)
                try create(rig, url: "http://later-\(number).test/")
            }
        }
        try rig.settle()
        try rig.expectFoldIsLive()
        #expect(isTimerDeleted(rig, id))
        guard case .redriven = try redrive(rig, id) else {
            Issue.record("it is not redriven")
            return
        }
        #expect(isTimerDeleted(rig, id))
        let attempt = try #require(begin(rig))
        #expect(attempt.id == id && attempt.number == 1)
        #expect(try url(attempt, rig) == "http://last.test/")
        var delivered = AttemptEnd(outcome: DeliveryOutcome(.delivered, delivery: id, attempt: 1))
        delivered.definition = definition("t")
        delivered.command = ReceiverCommand(Array("cancel".utf8))
        #expect(rig.engine.settle([delivered][...]).refused.count == 1)
        try rig.settle()
        #expect(rig.engine.snapshotCounters().commandsRefused == 1)
        #expect(rig.progress("t")?.state == (meanwhile == .nothing ? nil : .running))
        #expect(rig.engine.turn { $0.delivery(id) } == nil)
        try rig.expectFoldIsLive()
        rig.stop()
    }

    @Test func `a timer without a webhook leaves none`() throws {
        let rig = try Rig()
        try create(rig, url: "http://first.test/")
        let id = try die(rig)
        try rig.change { turn throws(ServiceError) in
            var bytes = definition("t")
            _ = try turn.put(rig.key("t"), definition: &bytes, if: .none, unless: .none)
        }
        try delete(rig)
        try create(rig, url: "http://later.test/")
        #expect(try redrive(rig, id) == .noWebhook)
        try rig.expectFoldIsLive()
        rig.stop()
    }

    @Test func `a timer that leaves no dead letters leaves no will`() throws {
        let rig = try Rig()
        try create(rig, url: "http://first.test/")
        try rig.apply("t", .fire)
        try delete(rig)
        try rig.settle()
        #expect(try rig.records().allSatisfy { if case .will = $0.content { false } else { true } })
        rig.stop()
    }
}
