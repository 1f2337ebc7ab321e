import Platform
import TestSupport
import Testing
import TimerCore
import TimerLog
import Webhooks

@testable import TimerService

/// Attempts at deliveries while the disk is slow or fails.
struct AttemptTests {
    private static func webhook(_ url: String) -> [UInt8] { WebhookConfiguration(url: url).encode() }

    /// A repeating timer with a webhook.
    private func create(_ rig: Rig, _ id: String = "t") throws {
        var rules = TimerRules(.every(1_000_000_000, first: .period))
        rules.deliveries = EventTypes(.fired)
        try rig.change { turn throws(ServiceError) in
            var bytes = definition(id, rules, webhook: Self.webhook("http://old.test/"))
            _ = try turn.create(rig.key(id), definition: &bytes)
        }
    }

    /// Changes the URL of a timer's webhook.
    private func redirect(_ rig: Rig, _ id: String = "t", to url: String) throws {
        var rules = TimerRules(.every(1_000_000_000, first: .period))
        rules.deliveries = EventTypes(.fired)
        let basis = try #require(rig.progress(id)).version
        try rig.change { turn throws(ServiceError) in
            var bytes = definition(id, rules, webhook: Self.webhook(url))
            _ = try turn.amend(rig.key(id), basis: basis, definition: &bytes, if: .none)
        }
    }

    private func ready(_ rig: Rig) -> [Int64] {
        var isLast = true
        var restarts = 0
        return rig.engine.takeReady(limit: 100, isLast: &isLast, restarts: &restarts).map(\.id)
    }

    private func url(_ attempt: DeliveryAttempt?) -> String? {
        attempt?.webhook.flatMap { WebhookConfiguration($0.span)?.url }
    }

    @Test func `what came of a retry counts, though the log was folded anew meanwhile`() throws {
        let store = FaultyLogStore()
        let rig = try Rig(store)
        try create(rig)
        try rig.apply("t", .fire)
        try rig.settle()
        let id = try #require(rig.begin(ready(rig)).first).id
        let failed = AttemptEnd(
            outcome: DeliveryOutcome(.deliveryFailed, delivery: id, attempt: 1), retryAfter: 1000)
        #expect(rig.engine.settle([failed][...]).taken == 1)
        try rig.settle()
        rig.time.pass(milliseconds: 2000)
        rig.fire()
        let retry = try #require(rig.begin(ready(rig)).first)
        #expect(retry.id == id && retry.number == 2)
        // The log holds the first attempt alone when it is folded again.
        store.plan(.absent)
        let lost = try rig.create("other")
        #expect(try rig.fate(lost) == .lost)
        try eventually("the disk works") { rig.locked { !$0.storageFails } }
        var delivered = AttemptEnd(outcome: DeliveryOutcome(.delivered, delivery: id, attempt: 2))
        delivered.command = ReceiverCommand(Array("cancel".utf8))
        #expect(rig.engine.settle([delivered][...]).taken == 1)
        try rig.settle()
        #expect(rig.engine.snapshotCounters().pendingDeliveries == 0)
        #expect(rig.progress("t")?.state == .cancelled)
        try rig.expectFoldIsLive()
        rig.stop()
    }

    @Test func `the age of a delivery bounds the wait for its next attempt`() {
        func end(expiresAt: Int64?) -> AttemptEnd {
            var end = AttemptEnd(
                outcome: DeliveryOutcome(.deliveryFailed, delivery: 1, attempt: 1), retryAfter: 5000)
            end.expiresAt = expiresAt
            end.boundAge(10_000)
            return end
        }
        #expect(end(expiresAt: nil).retryAfter == 5000)
        #expect(end(expiresAt: 15_001).retryAfter == 5000)
        #expect(end(expiresAt: 12_000).retryAfter == 2000)
        #expect(end(expiresAt: 10_001).outcome.type == .deliveryFailed)
        let dead = end(expiresAt: 10_000).outcome
        #expect(dead.type == .deliveryDead && dead.reason == .age && dead.attempt == 1)
    }

    @Test func `the age of a delivery counts from its redrive, after a fold too`() throws {
        let store = MemoryLogStore()
        let rig = try Rig(store)
        try create(rig)
        try rig.apply("t", .fire)
        try rig.settle()
        let first = try #require(rig.begin(ready(rig)).first)
        #expect(first.redrivenAt == nil)
        var outcome = DeliveryOutcome(.deliveryDead, delivery: first.id, attempt: 1)
        (outcome.reason, outcome.status) = (.status, 400)
        #expect(rig.engine.settle([AttemptEnd(outcome: outcome)][...]).taken == 1)
        try rig.settle()
        try rig.expectFoldIsLive()
        rig.time.pass(milliseconds: 5000)
        try rig.change { turn throws(ServiceError) in _ = try turn.redrive(first.id, definition: definition("t")) }
        try rig.settle()
        try rig.expectFoldIsLive()
        let again = try #require(rig.begin(ready(rig)).first)
        #expect(again.redrivenAt == again.begunAt && again.begunAt >= first.begunAt + 5000)
        rig.stop()
        let next = try Rig(store, time: rig.time)
        #expect(try #require(next.begin(ready(next)).first).redrivenAt == again.redrivenAt)
        next.stop()
    }

    @Test func `an attempt waits until the webhook it goes by is on disk`() throws {
        let gate = GatedLogStore(MemoryLogStore())
        let rig = try Rig(gate)
        try create(rig)
        try rig.apply("t", .fire)
        try rig.settle()
        let id = try #require(ready(rig).first)
        gate.shut()
        try redirect(rig, to: "http://new.test/")
        #expect(rig.begin([id]).isEmpty)
        #expect(rig.begin(ready(rig)).isEmpty)
        gate.unshut()
        try rig.settle()
        let attempts = rig.begin(ready(rig))
        #expect(attempts.map(\.id) == [id])
        #expect(url(attempts.first) == "http://new.test/")
        rig.stop()
    }

    @Test func `readers do not hurry the attempts at a store that can't be opened`() throws {
        let faulty = FaultyLogStore()
        let store = GatedLogStore(faulty)
        let rig = try Rig(store, starts: false)
        rig.committer.retryPause = 3_600_000_000_000
        rig.start()
        store.shut()
        try rig.create("a")
        try eventually("the append is under way") { store.isHolding }
        // This one waits in the batch for as long as the log can't be folded.
        try rig.create("b")
        faulty.plan(.unknownAndLost)
        faulty.failReads(.max)
        faulty.failOpens(1000)
        let opens = faulty.openCount
        store.unshut()
        try eventually("the store was asked once") { faulty.openCount == opens + 1 }
        for _ in 0..<20 {
            _ = rig.live
            rig.engine.lock.yield()
        }
        rig.stop()
        #expect(faulty.openCount == opens + 1)
    }

    @Test func `what waited for its host comes again after a fold, once`() throws {
        let store = FaultyLogStore()
        let rig = try Rig(store)
        for number in 0..<5 {
            try create(rig, "t\(number)")
            try rig.apply("t\(number)", .fire)
        }
        try rig.settle()
        var queues = HostQueues<Int64>(perHost: 1, concurrency: 8)
        var (isLast, restarts, known) = (false, 0, 0)
        for _ in 0..<4 {
            let taken = rig.engine.takeReady(limit: 100, isLast: &isLast, restarts: &restarts)
            if restarts != known { queues.removeWaiting() }
            known = restarts
            for ready in taken { queues.append(ready.id, host: ready.origin ?? "") }
            #expect(queues.waiting == 5)
            store.plan(.absent)
            #expect(try rig.fate(try rig.create("lost")) == .lost)
            try eventually("the disk works") { rig.locked { !$0.storageFails } }
        }
        rig.stop()
    }
}
