@testable import TimerCore

/// Deliveries that a test handles step by step: a scheduler, and the positions that a log would give.
final class HandmadeDeliveries {
    let bench = Bench()
    private var next: Int64 = 1000

    /// Makes running timers with webhooks, which never fire by themselves.
    init(_ ids: [String] = ["t"], _ edit: (inout TimerRules) -> Void = { _ in }) throws {
        bench.scheduler.armAll(bench.now)
        for id in ids { try create(id, edit) }
    }

    func create(_ id: String, _ edit: (inout TimerRules) -> Void = { _ in }) throws {
        var rules = TimerRules(.every(1_000_000_000, first: .period))
        rules.deliveries = [EventTypes(.fired)]
        edit(&rules)
        try bench.create(rules, id: id, webhook: [1])
    }

    func position() -> Int64 {
        next += 1
        return next
    }

    /// Owes an event of the timer to its webhook. Returns the delivery's id.
    @discardableResult
    func owe(_ id: String = "t") throws -> Int64 {
        let position = position()
        bench.scheduler.owe(position, try bench.slot(id))
        return position
    }

    /// Takes the deliveries that may be sent when the records through the position `durable` are on disk.
    func ready(durable: Int64 = .max) -> [Int64] { bench.scheduler.takeReadyDeliveries(limit: 100, durable: durable) }

    /// Begins an attempt. Returns its number; nil when another delivery is before it in the queue.
    @discardableResult
    func begin(_ id: Int64, durable: Int64 = .max) -> Int? {
        bench.scheduler.beginDelivery(id, bench.now, durable: durable)?.attempts
    }

    /// Ends an attempt. Returns the position of its record.
    @discardableResult
    func end(_ id: Int64, _ type: EventType = .delivered, _ reason: EventReason = .none, retryAfter: Int64 = 0) -> Int64
    {
        var outcome = DeliveryOutcome(type, delivery: id, attempt: state(id)?.attempts ?? 0)
        outcome.reason = reason
        outcome.status = 500
        outcome.retryAt = bench.now.wall + retryAfter
        let position = position()
        bench.scheduler.settle(
            outcome, at: bench.now.wall, position: position, wallOffset: bench.now.wallOffset)
        return position
    }

    func state(_ id: Int64) -> DeliveryDetail? { bench.scheduler.delivery(id, bench.now) }

    func pending(_ id: String = "t") throws -> [Int64] { bench.scheduler.pendingDeliveries(of: try bench.slot(id)) }

    /// Redrives a dead letter. Returns false where there is none.
    func redrive(_ id: Int64) -> Bool {
        bench.scheduler.redrive(id, bench.key("t"), at: bench.now.wall, position: position())
    }

    /// The delivery that must die because too many of this timer, or in all, are pending; nil when not too many are.
    func surplus(_ id: String = "t") throws -> Int64? { bench.scheduler.surplusDelivery(try bench.slot(id)) }

    func hasReady(durable: Int64) -> Bool { bench.scheduler.hasReadyDeliveries(durable: durable) }

    func putOff(_ id: String, by delay: Int64) throws(TimerRefusal) -> [EventType?] {
        var effects: [Effect] = []
        try bench.scheduler.putOff(try bench.slot(id), by: delay, bench.now, &effects)
        return effects.map(\.type)
    }

    /// The numbers of pending and of dead deliveries.
    var counts: [Int] { [bench.scheduler.pendingDeliveries, bench.scheduler.deadDeliveries] }
}
