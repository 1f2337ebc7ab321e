import TestSupport
import TimerLog
import Webhooks

@testable import TimerCore
@testable import TimerService

/// Deliveries as clients see and change them, and their checks after every step.
extension Simulation {
    /// Redrives or drops a delivery, as a client does.
    func changeDelivery() throws {
        let isDrop = random.chance(oneIn: 3)
        let known = model.deliveries.values.filter {
            isDrop || $0.isDead && model.lives[$0.timer] == $0.life && model.timers[$0.timer] != nil
        }
        guard let delivery = known.sorted(by: { $0.id < $1.id }).randomElement(using: &random) else { return }
        // A delivery that is not on disk yet can't be asked for.
        guard let definition = try definition(ofEvent: delivery.id) else { return }
        note("\(isDrop ? "drop" : "redrive") delivery \(delivery.id) of \(delivery.timer)")
        let failure: (any Error)? = server.engine.turn { turn in
            do {
                try isDrop ? drop(delivery, definition, turn) : redrive(delivery, definition, turn)
                return nil
            } catch { return error }
        }
        if let failure { throw failure }
    }

    private func definition(ofEvent id: Int64) throws -> [UInt8]? {
        guard let body = server.engine.turn({ $0.delivery(id)?.body }), !isDoomed else { return nil }
        let reader = try store.makeReader()
        var bodies = EventReader { position throws(StoreError) in try reader.row(holding: position) }
        return try bodies.event(id, at: body).map { Array($0.data[$0.event.definition]) }
    }

    private func drop(_ delivery: ModelDelivery, _ definition: [UInt8], _ turn: borrowing Turn) throws {
        let isOpen = server.isOpen
        do { try turn.dropDelivery(delivery.id, definition: definition) } catch {
            return try promise(!isOpen, "delivery \(delivery.id) can't be dropped: \(error)")
        }
        try promise(isOpen, "a delivery is dropped while storage fails")
        try expectChange(delivery.id, .stopped)
        model.deliveries[delivery.id] = nil
        reached.insert(.drop)
    }

    private func redrive(_ delivery: ModelDelivery, _ definition: [UInt8], _ turn: borrowing Turn) throws {
        let isOpen = server.isOpen
        let verdict: RedriveVerdict
        do { verdict = try turn.redrive(delivery.id, definition: definition) } catch {
            return try promise(!isOpen, "delivery \(delivery.id) can't be redriven: \(error)")
        }
        try promise(isOpen, "a delivery is redriven while storage fails")
        switch verdict {
        case .redriven:
            try promise(model.takesDeliveries(delivery.timer), "\(delivery) is redriven to no webhook")
            try expectChange(delivery.id, .pending)
            model.redrive(delivery.id)
        case .noWebhook:
            try promise(!model.takesDeliveries(delivery.timer), "\(delivery) has a webhook")
        case .full: try promise(model.pendingCount >= Model.backlog, "\(model.pendingCount) deliveries are no backlog")
        case .notDead: throw BrokenPromise("\(delivery) is not dead")
        }
        if case .redriven = verdict { return }
        try promise(unseen().isEmpty, "a redrive that came to \(verdict) is recorded")
    }

    private func expectChange(_ id: Int64, _ state: DeliveryState) throws {
        let found = try unseen()
        let detail = found.first?.delivery
        try promise(
            found.count == 1 && detail?.id == id && detail?.state == state && detail?.attempts == 0
                || state == .stopped && found.count == 1 && detail?.id == id && detail?.state == state,
            "delivery \(id) changes as \(found), not to \(state.name)")
    }

    /// Every delivery of `scheduler`.
    static func deliveries(_ scheduler: borrowing Scheduler, _ now: Now) -> [Int64: DeliveryDetail] {
        var found: [Int64: DeliveryDetail] = [:]
        for isDead in [false, true] {
            scheduler.walkDeliveries(after: .min, dead: isDead, now) { _, detail in
                found[detail.id] = detail
                return true
            }
        }
        return found
    }

    /// Checks that the deliveries equal the model's.
    ///
    /// - Parameter isFold: whether they come from a log, which holds neither attempts under way nor the drops of dead
    ///   letters.
    func checkDeliveries(
        _ held: [Int64: DeliveryDetail], _ expected: Model, _ now: Now, isFold: Bool = false
    ) throws(BrokenPromise) {
        for (id, detail) in held where expected.deliveries[id] == nil {
            try promise(
                detail.state == .dead && isFold && expected.evicted[id] != nil,
                "delivery \(id) is \(detail.state.name), nothing is owed")
        }
        let dead = held.values.filter { $0.state == .dead }.map(\.id)
        // A delivery that died since the last comparison may be older than a dead letter that was dropped before.
        let oldest = dead.filter { !expected.buried.contains($0) }.min() ?? .max
        let wereTooMany = expected.deliveries.values.count { $0.isDead } > Model.deadLetters
        for delivery in expected.deliveries.values {
            guard let detail = held[delivery.id] else {
                // The oldest dead letter is dropped when there are too many; some of the others may have expired
                // by now.
                let hadToGo = (wereTooMany || dead.count >= Model.deadLetters - 3) && delivery.id < oldest
                guard case .dead(let until) = delivery.phase,
                    hadToGo || until <= now.down(.continuous) || delivery.isAdrift
                else { throw BrokenPromise("\(delivery) is forgotten") }
                continue
            }
            let isUnderWay = detail.state == .inFlight
            let mayBeUnderWay = !isFold && expected.lateResults.contains(delivery.id)
            let isRight =
                switch delivery.phase {
                case .dead:
                    detail.state == .dead && detail.reason == delivery.reason
                        && (detail.lastAttempt?.status ?? 0) == delivery.status
                case .pending: detail.state == .pending || detail.state == .waiting || mayBeUnderWay && isUnderWay
                case .underWay: isFold || isUnderWay
                }
            let attempts = detail.attempts - (isUnderWay ? 1 : 0)
            let belongs = delivery.isDead || (detail.slot != nil) == (expected.lives[delivery.timer] == delivery.life)
            try promise(
                isRight && belongs && attempts == delivery.attempts,
                "\(delivery) is held as \(detail), isFold: \(isFold)")
        }
    }

    /// Takes over the dead letters that a fold found, among which may be some that were dropped before.
    func adoptDeadLetters() throws(BrokenPromise) {
        let now = server.now()
        let held = Self.deliveries(server.engine.scheduler, now).filter { $0.value.state == .dead }
        for id in held.keys.sorted() {
            guard let old = model.evicted.removeValue(forKey: id), model.deliveries[id] == nil else { continue }
            model.deliveries[id] = old
        }
        for (id, delivery) in model.deliveries where delivery.isDead && held[id] == nil {
            let mayBeGone = held.count == Model.deadLetters || droppedLetters.contains(id)
            try promise(mayBeGone, "\(delivery) is forgotten by a fold")
            model.evicted[id] = delivery
            model.deliveries[id] = nil
        }
        model.foldDeliveries(underWay: model.lateResults, now)
    }

    /// Drops the model's dead letters that the server dropped, as their time is over or there were too many.
    func dropExpired(_ held: [Int64: DeliveryDetail]) {
        for (id, delivery) in model.deliveries where delivery.isDead && held[id] == nil {
            droppedLetters.insert(id)
            model.evicted[id] = delivery
            model.deliveries[id] = nil
        }
        droppedLetters.formUnion(model.evicted.keys)
        model.buried = []
    }

    /// Checks that no sendable delivery waits once the dispatcher has nothing to do.
    func checkDelivering() throws(BrokenPromise) {
        guard depth == 0, server.isOpen, !isDoomed, broken == nil, !server.hasWork, !server.dispatcher.hasWork,
            ends.isEmpty,
            !isLoopDue, !server.alarm.isRung, server.alarm.armed > time.sinceBoot
        else { return }
        let now = server.now()
        let held = Self.deliveries(server.engine.scheduler, now)
        for (id, detail) in held where detail.state == .dead {
            guard let delivery = model.deliveries[id], !delivery.isAdrift, case .dead(let until) = delivery.phase else {
                continue
            }
            try promise(until > now.down(.continuous), "the dead letter \(id) is kept beyond its time")
        }
        for (id, timer) in model.timers {
            let pending = model.pending(of: id)
            guard !pending.isEmpty, let url = timer.webhook?.url else { continue }
            let waits = pending.contains { delivery in
                if exchanges[delivery.id] != nil || delivery.isAdrift { return true }
                if case .pending(let from) = delivery.phase { return from > now.down(.continuous) }
                return false
            }
            let host = Self.host(of: url)
            let isFull = exchanges.values.count { $0.host == host } >= Server.perHost
            try promise(waits || isFull, "nothing is sent of \(pending.map(\.id)) of \(id), at \(now)")
        }
    }
}
