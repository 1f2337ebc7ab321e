import Testing

@testable import TimerCore

struct DeliveryTests {
    @Test func `an event is owed by what the rules name, and by nothing once the receiver said stop`() throws {
        let deliveries = try HandmadeDeliveries { $0.deliveries = [EventTypes(.fired), EventTypes(.suspended)] }
        let bench = deliveries.bench
        try bench.apply(.fire)
        #expect(bench.effects.map(\.owesDelivery) == [true])
        try bench.apply(.suspend)
        #expect(bench.effects.map(\.owesDelivery) == [true])
        try bench.apply(.resume)
        #expect(bench.effects.map(\.owesDelivery) == [false])
        let id = try deliveries.owe()
        deliveries.begin(id)
        deliveries.end(id, .deliveryDead, .gone)
        try bench.apply(.fire)
        #expect(bench.effects.map(\.owesDelivery) == [false])
        #expect(try bench.progress().flags.contains(.webhookStopped))
        try bench.apply(.cancel)
        #expect(try bench.progress().flags.contains(.webhookStopped))
    }

    @Test func `a timer's deliveries go one after the other, timers side by side`() throws {
        let deliveries = try HandmadeDeliveries(["t", "u"])
        let first = try deliveries.owe()
        let second = try deliveries.owe()
        let other = try deliveries.owe("u")
        #expect(deliveries.ready() == [first, other])
        #expect(deliveries.begin(second) == nil)
        #expect(deliveries.begin(first) == 1)
        #expect(deliveries.begin(first) == nil)
        #expect(deliveries.begin(other) == 1)
        let outcome = deliveries.end(first)
        #expect(deliveries.ready(durable: outcome - 1) == [])
        #expect(deliveries.ready(durable: outcome) == [second])
        #expect(deliveries.state(first) == nil)
        #expect(try deliveries.pending() == [second])
    }

    @Test func `what is not on disk yet does not go`() throws {
        let deliveries = try HandmadeDeliveries()
        let id = try deliveries.owe()
        #expect(!deliveries.hasReady(durable: id - 1))
        #expect(deliveries.ready(durable: id - 1) == [])
        #expect(deliveries.hasReady(durable: id))
        #expect(deliveries.ready(durable: id) == [id])
    }

    @Test func `a failed one waits for its time, and the next behind it`() throws {
        let deliveries = try HandmadeDeliveries()
        let bench = deliveries.bench
        let id = try deliveries.owe()
        let second = try deliveries.owe()
        _ = deliveries.ready()
        deliveries.begin(id)
        deliveries.end(id, .deliveryFailed, retryAfter: 500)
        #expect(deliveries.state(id)?.state == .waiting)
        #expect(deliveries.state(id)?.lastAttempt == LastAttempt(at: bench.now.wall, status: 500, failure: nil))
        #expect(deliveries.state(id)?.due == bench.now.wall + 500)
        #expect(bench.untilWake == 500)
        bench.pass(499)
        bench.advance()
        #expect(deliveries.ready() == [])
        bench.pass(1)
        bench.advance()
        #expect(deliveries.ready() == [id])
        #expect(deliveries.begin(id) == 2)
        #expect(deliveries.begin(second) == nil)
        deliveries.end(id)
        #expect(deliveries.ready() == [second])
    }

    @Test func `out of attempts a delivery is a dead letter, forgotten after seven days`() throws {
        let deliveries = try HandmadeDeliveries()
        let bench = deliveries.bench
        let id = try deliveries.owe()
        let second = try deliveries.owe()
        _ = deliveries.ready()
        deliveries.begin(id)
        deliveries.end(id, .deliveryDead, .attempts)
        #expect(deliveries.ready() == [second])
        let dead = try #require(deliveries.state(id))
        #expect((dead.state, dead.slot, dead.lastAttempt?.status, dead.reason) == (.dead, nil, 500, .attempts))
        #expect(dead.due == bench.now.wall + 7 * 86_400_000)
        #expect(deliveries.counts == [1, 1])
        bench.pass(7 * 86_400_000 - 1)
        bench.advance()
        #expect(deliveries.counts == [1, 1])
        bench.pass(1)
        bench.advance()
        #expect(deliveries.state(id) == nil)
        #expect(deliveries.counts == [1, 0])
    }

    @Test func `a dead letter is redriven in its place, from the first attempt on`() throws {
        let deliveries = try HandmadeDeliveries()
        let ids = try (0..<4).map { _ in try deliveries.owe() }
        for id in ids.prefix(2) {
            deliveries.begin(id)
            deliveries.end(id, .deliveryDead, .attempts)
        }
        _ = deliveries.ready()
        // A redriven delivery comes before the waiting ones and after the one under way.
        #expect(deliveries.redrive(ids[1]))
        #expect(try deliveries.pending() == [ids[1], ids[2], ids[3]])
        #expect(deliveries.ready() == [ids[1]])
        #expect(deliveries.begin(ids[2]) == nil)
        #expect(deliveries.begin(ids[1]) == 1)
        #expect(deliveries.redrive(ids[0]))
        #expect(try deliveries.pending() == [ids[1], ids[0], ids[2], ids[3]])
        #expect(deliveries.ready() == [])
        deliveries.end(ids[1])
        #expect(deliveries.ready() == [ids[0]])
        #expect(!deliveries.redrive(ids[3]))
    }

    @Test(arguments: [false, true])
    func `a redriven delivery waits for the record of that, though an older place of it is queued`(_ isDetached: Bool)
        throws
    {
        let deliveries = try HandmadeDeliveries()
        let id = try deliveries.owe()
        deliveries.begin(id)
        deliveries.end(id, .deliveryDead, .attempts)
        if isDetached { try deliveries.bench.delete() }
        #expect(deliveries.ready() == [id])
        #expect(deliveries.redrive(id))
        let redriven = deliveries.position() - 1
        #expect(deliveries.begin(id, durable: redriven - 1) == nil)
        #expect(deliveries.ready(durable: redriven - 1) == [])
        #expect(deliveries.ready(durable: redriven) == [id, id])
        #expect(deliveries.begin(id, durable: redriven) == 1)
    }

    @Test(arguments: 0..<3)
    func `one under way of which a fold knows nothing goes before the rest of its timer's`(_ index: Int) throws {
        let deliveries = try HandmadeDeliveries()
        let ids = try (0..<3).map { _ in try deliveries.owe() }
        let rest = ids.filter { $0 != ids[index] }
        for _ in 0..<2 { deliveries.bench.scheduler.rejoinDelivery(ids[index]) }
        #expect(deliveries.state(ids[index])?.state == .inFlight)
        #expect(deliveries.state(ids[index])?.attempts == 1)
        #expect(try deliveries.pending() == [ids[index]] + rest)
        for id in ids { #expect(deliveries.begin(id) == nil) }
        let last = try deliveries.owe()
        #expect(try deliveries.pending() == [ids[index]] + rest + [last])
        _ = deliveries.ready()
        deliveries.end(ids[index])
        #expect(deliveries.ready() == [rest[0]])
        #expect(try deliveries.pending() == rest + [last])
    }

    @Test func `a receiver that is gone ends all that is pending`() throws {
        let deliveries = try HandmadeDeliveries(["t", "u"])
        let ids = try (0..<3).map { _ in try deliveries.owe() }
        let other = try deliveries.owe("u")
        deliveries.begin(ids[0])
        deliveries.end(ids[0], .deliveryDead, .gone)
        #expect(try deliveries.pending() == [])
        #expect(deliveries.counts == [1, 0])
        #expect(try deliveries.pending("u") == [other])
    }

    @Test func `of more than a thousand the oldest that is not under way is surplus`() throws {
        let deliveries = try HandmadeDeliveries()
        let ids = try (0..<1000).map { _ in try deliveries.owe() }
        #expect(try deliveries.surplus() == nil)
        try deliveries.owe()
        #expect(try deliveries.surplus() == ids[0])
        deliveries.begin(ids[0])
        #expect(try deliveries.surplus() == ids[1])
        deliveries.end(ids[1], .deliveryDead, .backlog)
        #expect(try deliveries.surplus() == nil)
        #expect(deliveries.state(ids[1])?.reason == .backlog)
    }

    @Test(arguments: [EventReason.status, .age])
    func `a delivery that is dead before its attempts are used up gives way to the next`(reason: EventReason) throws {
        let deliveries = try HandmadeDeliveries()
        let ids = try (0..<2).map { _ in try deliveries.owe() }
        _ = deliveries.ready()
        deliveries.begin(ids[0])
        deliveries.end(ids[0], .deliveryDead, reason)
        #expect(deliveries.state(ids[0])?.reason == reason)
        #expect(deliveries.ready() == [ids[1]])
    }

    @Test func `a death of age without an attempt leaves the last attempt as it was`() throws {
        let deliveries = try HandmadeDeliveries()
        let id = try deliveries.owe()
        deliveries.begin(id)
        deliveries.end(id, .deliveryFailed)
        let last = deliveries.state(id)?.lastAttempt
        var outcome = DeliveryOutcome(.deliveryDead, delivery: id, attempt: 1)
        outcome.reason = .age
        deliveries.bench.now.elapsed += 1_000_000_000
        deliveries.bench.scheduler.settle(outcome, at: deliveries.bench.now.wall, position: 5000, wallOffset: 0)
        #expect(last != nil && deliveries.state(id)?.lastAttempt == last)
    }

    @Test func `the instant of a redrive is kept until the delivery is dead again`() throws {
        let deliveries = try HandmadeDeliveries()
        let id = try deliveries.owe()
        #expect(deliveries.state(id)?.redrivenAt == nil)
        deliveries.begin(id)
        deliveries.end(id, .deliveryDead, .status)
        #expect(deliveries.redrive(id))
        #expect(deliveries.state(id)?.redrivenAt == deliveries.bench.now.wall)
        deliveries.begin(id)
        deliveries.end(id, .deliveryFailed)
        #expect(deliveries.state(id)?.redrivenAt == deliveries.bench.now.wall)
        deliveries.end(id, .deliveryDead, .attempts)
        #expect(deliveries.state(id)?.redrivenAt == nil)
    }

    @Test func `over the backlog the oldest of all is surplus; dead letters over their bound are dropped`() throws {
        let deliveries = try HandmadeDeliveries(["t", "u", "v"])
        let bench = deliveries.bench
        bench.scheduler.boundDeliveries(backlog: 2, deadLetters: 1)
        let first = try deliveries.owe("u")
        let second = try deliveries.owe("t")
        #expect(try deliveries.surplus("t") == nil)
        try deliveries.owe("v")
        #expect(try deliveries.surplus("v") == first)
        deliveries.end(first, .deliveryDead, .backlog)
        deliveries.end(second, .deliveryDead, .backlog)
        #expect(deliveries.state(first) == nil)
        #expect(deliveries.state(second)?.state == .dead)
    }

    @Test func `deleting a timer drops what is pending and keeps dead letters`() throws {
        let deliveries = try HandmadeDeliveries()
        let bench = deliveries.bench
        let dead = try deliveries.owe()
        let pending = try deliveries.owe()
        deliveries.end(dead, .deliveryDead, .attempts)
        try bench.delete()
        #expect(deliveries.state(pending) == nil)
        #expect(deliveries.state(dead)?.state == .dead)
        // The timer is deleted by then; the delivery is sent all the same.
        _ = deliveries.ready()
        #expect(deliveries.redrive(dead))
        #expect(deliveries.ready() == [dead])
        #expect(deliveries.begin(dead) == 1)
        #expect(deliveries.state(dead)?.slot == nil)
        deliveries.end(dead)
        #expect(deliveries.counts == [0, 0])
    }

    @Test func `a timer without a webhook has nothing pending`() throws {
        let deliveries = try HandmadeDeliveries()
        let id = try deliveries.owe()
        try deliveries.bench.amend { $0.deliveries = [] }
        #expect(deliveries.state(id) == nil)
        #expect(try deliveries.pending() == [])
    }

    @Test func `a webhook that leads elsewhere is queued for anew`() throws {
        let deliveries = try HandmadeDeliveries()
        let id = try deliveries.owe()
        #expect(deliveries.ready() == [id])
        try deliveries.bench.amend(webhook: [1]) { $0.restartable = true }
        #expect(deliveries.ready() == [])
        try deliveries.bench.amend(webhook: [2]) { _ in }
        #expect(deliveries.ready() == [id])
        #expect(deliveries.begin(id) == 1)
        try deliveries.bench.amend(webhook: [3]) { _ in }
        #expect(deliveries.ready() == [])
    }

    @Test func `an attempt that could not begin is none, and comes up again`() throws {
        let deliveries = try HandmadeDeliveries()
        let bench = deliveries.bench
        let id = try deliveries.owe()
        _ = deliveries.ready()
        deliveries.begin(id)
        bench.scheduler.postponeDelivery(id, by: 300, bench.now)
        #expect(deliveries.state(id)?.attempts == 0)
        bench.advance(299)
        #expect(deliveries.ready() == [])
        bench.advance(1)
        #expect(deliveries.ready() == [id])
        #expect(deliveries.begin(id) == 1)
    }

    @Test func `no wait is longer after a restart than a policy can ask for`() throws {
        let deliveries = try HandmadeDeliveries()
        let bench = deliveries.bench
        let id = try deliveries.owe()
        deliveries.begin(id)
        // A fold gives instants on the wall clock.
        bench.scheduler.deliveries.isArming = false
        var outcome = DeliveryOutcome(.deliveryFailed, delivery: id, attempt: 1)
        outcome.retryAt = bench.now.wall + 4 * 365 * 86_400_000
        bench.scheduler.settle(outcome, at: bench.now.wall, position: deliveries.position(), wallOffset: 0)
        bench.scheduler.armAll(bench.now)
        #expect(deliveries.state(id)?.due == bench.now.wall + 14 * 86_400_000)
    }

    @Test func `an ended timer stays for as long as deliveries are pending`() throws {
        let deliveries = try HandmadeDeliveries { $0.retain = 10 }
        let bench = deliveries.bench
        let id = try deliveries.owe()
        deliveries.begin(id)
        try bench.apply(.cancel)
        bench.pass(1000)
        bench.advance()
        #expect(bench.exists())
        deliveries.end(id)
        bench.advance()
        #expect(!bench.exists())
    }

    @Test func `a receiver puts off the next fire, of a completed timer too where that may run again`() throws {
        let deliveries = try HandmadeDeliveries(["t", "u", "v"]) {
            $0.restartable = true
            $0.maxFires = 1
        }
        let bench = deliveries.bench
        try bench.apply(.fire)
        #expect(try bench.progress().state == .completed)
        #expect(try deliveries.putOff("t", by: 700) == [.activated])
        #expect(try bench.progress().state == .running)
        #expect(try bench.due() == 700)
        #expect(try deliveries.putOff("u", by: 300) == [.rescheduled])
        #expect(try bench.due("u") == 300)
        try bench.amend(id: "u") { $0.restartable = false }
        try bench.apply(.cancel, id: "u")
        #expect(throws: TimerRefusal.self) { try deliveries.putOff("u", by: 1) }
        // A timer that a client cancelled stays cancelled.
        try bench.apply(.cancel, id: "v")
        #expect(throws: TimerRefusal.self) { try deliveries.putOff("v", by: 1) }
    }
}
