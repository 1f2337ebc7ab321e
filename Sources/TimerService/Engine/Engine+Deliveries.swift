import Platform
import TimerCore
import TimerLog
import Webhooks

/// Deliveries, as the dispatcher takes them and clients change them.
extension Engine {
    /// Notes that the event of `effect`, at `position`, is to be delivered. Above the bounds, the oldest delivery
    /// that is not in flight becomes a dead letter, or is dropped if its timer is deleted.
    func owe(_ position: Int64, _ effect: Effect) {
        scheduler.owe(position, effect.slot)
        // Each new delivery removes one above the bounds, or two, as the bounds may have been lowered.
        for _ in 0..<2 {
            guard let id = scheduler.surplusDelivery(effect.slot), let delivery = scheduler.delivery(id, clockNow)
            else { return }
            guard delivery.slot != nil else {
                drop(delivery, definition: [], clockNow)
                continue
            }
            var outcome = DeliveryOutcome(.deliveryDead, delivery: id, attempt: delivery.attempts)
            outcome.reason = .backlog
            record(AttemptEnd(outcome: outcome), clockNow)
        }
    }

    /// Drops a delivery. No stream shows that.
    ///
    /// - Parameter definition: the definition of its timer, or its prefix; empty where that is not known.
    func drop(_ delivery: DeliveryDetail, definition: [UInt8], _ now: Now) {
        var dropped = delivery
        dropped.slot = nil
        dropped.state = .stopped
        let position = record(dropped, definition: definition, now)
        _ = scheduler.dropDelivery(delivery.id, position: position)
    }

    /// Sets `observer` to be called, under the lock, when deliveries are ready. Called before anything changes.
    func observeReadyDeliveries(_ observer: @escaping () -> Void) { lock.withLock { onReadyDeliveries = observer } }

    /// Takes deliveries that are ready, each with the origin of its webhook; the origin is nil where the timer is
    /// deleted.
    ///
    /// - Parameters:
    ///   - isLast: set to whether there are no more.
    ///   - restarts: set to how often the log had been folded again by then: after a fold every delivery that was
    ///     taken before and not begun is ready again.
    func takeReady(limit: Int, isLast: inout Bool, restarts: inout Int) -> [TakenDelivery] {
        lock.withLock(.delivery) {
            isLast = true
            restarts = self.restarts
            // A delivery that is taken must be begun or become ready again, and while storage fails no attempt
            // begins.
            guard !storageFails, !isDrained else { return [] }
            let durable = shownHead
            let ids = scheduler.takeReadyDeliveries(limit: limit, durable: durable)
            isLast = !scheduler.hasReadyDeliveries(durable: durable)
            return ids.compactMap { id in
                guard let delivery = scheduler.delivery(id, clockNow) else { return nil }
                let origin = delivery.slot.map { slot in
                    scheduler.withWebhook(slot) { WebhookConfiguration.origin(encoded: $0) } ?? nil
                }
                return TakenDelivery(
                    id: id, body: delivery.body, origin: origin ?? nil, will: delivery.will?.position)
            }
        }
    }

    /// Whether attempts may begin: storage works, the server is not drained, and the lease, if there is one, is
    /// valid.
    var mayBeginDeliveries: Bool { lock.withLock(.delivery) { canDeliver } }

    private var canDeliver: Bool { !storageFails && !isDrained && !hasEndedDeliveries && lease?.isValid ?? true }

    /// Whether attempts are under way.
    var hasAttempts: Bool { lock.withLock(.delivery) { !attempted.isEmpty } }

    /// Begins no further attempts for good; those under way still end.
    func endDeliveries() { lock.withLock(.delivery) { hasEndedDeliveries = true } }

    /// Begins attempts at the deliveries `ids`, except those that are no longer ready. Returns nil while none may
    /// begin.
    func begin(_ ids: [Int64]) -> [DeliveryAttempt]? {
        lock.withLock(.delivery) {
            guard canDeliver else { return nil }
            let durable = shownHead
            return ids.compactMap { id in
                guard let delivery = scheduler.beginDelivery(id, clockNow, durable: durable) else { return nil }
                attempted.insert(id)
                var attempt = DeliveryAttempt(
                    id: id, body: delivery.body, number: delivery.attempts, begunAt: clockNow.wall,
                    redrivenAt: delivery.redrivenAt, will: delivery.will?.position)
                if let slot = delivery.slot {
                    attempt.webhook = scheduler.withWebhook(slot) { webhook in webhook.indices.map { webhook[$0] } }
                }
                return attempt
            }
        }
    }

    /// Takes back an attempt whose event can't be read now: its delivery is ready again after `milliseconds`.
    func postpone(_ id: Int64, milliseconds: Int64) {
        lock.withLock(.delivery) {
            attempted.remove(id)
            scheduler.postponeDelivery(id, by: milliseconds, instant())
            afterChanges(clockNow)
        }
    }

    /// Records how attempts ended, each together with its receiver's command for the timer, in one step.
    ///
    /// - Returns: how many were taken: as many as one hold of the lock may cost, and none while no records are
    ///   taken or too many wait for the disk; and the commands that were not legal.
    func settle(
        _ ends: ArraySlice<AttemptEnd>
    ) -> (taken: Int, refused: [(timer: [UInt8], command: ReceiverCommand)]) {
        lock.withLock(.delivery) {
            // Attempts that are under way when a drain begins still end.
            guard takesRecords, !isFull else { return (0, []) }
            let now = instant()
            let (bytes, deliveries) = (waitingBytes, scheduler.pendingDeliveries)
            var refused: [(timer: [UInt8], command: ReceiverCommand)] = []
            var taken = 0
            for var end in ends where !isCostly(since: bytes, deliveries) {
                taken += 1
                let id = end.outcome.delivery
                attempted.remove(id)
                guard let delivery = scheduler.delivery(id, now),
                    DeliveryMachine.next(end.outcome.event, in: delivery.state) != nil
                else {
                    if end.command != nil { counters.commandsIgnored += 1 }
                    continue
                }
                // A receiver stops only a webhook with the URL that it was reached by, not one whose URL was
                // changed since.
                if end.outcome.reason == .gone, let slot = delivery.slot, url(of: slot) != end.url {
                    (end.outcome.type, end.outcome.reason) = (.deliveryFailed, .none)
                }
                end.boundAge(now.wall)
                counters.count(end, at: now.wall)
                record(end, now)
                guard let command = end.command else { continue }
                guard end.outcome.type == .delivered else {
                    counters.commandsIgnored += 1
                    continue
                }
                if let timer = obey(command, delivery.slot, end.definition, now) { refused.append((timer, command)) }
            }
            afterChanges(now)
            return (taken, refused)
        }
    }

    /// Returns the URL that the webhook of the timer at `slot` has now; nil where there is none.
    func url(of slot: SlotIndex) -> String? {
        scheduler.withWebhook(slot) { WebhookConfiguration.url(encoded: $0) } ?? nil
    }

    /// Whether the receiver stopped the webhook of the timer at `slot`, and `definition` gives the webhook another
    /// URL.
    func changesStoppedWebhook(_ slot: SlotIndex, _ definition: [UInt8]) -> Bool {
        guard scheduler.progress(slot).flags.contains(.webhookStopped) else { return false }
        let webhook = Definition.layout(definition.span)?.webhook
        return webhook.flatMap { WebhookConfiguration.url(encoded: definition.span.extracting($0)) } != url(of: slot)
    }

    /// Applies a receiver's command to the timer at `slot`. Returns nil, or the timer's id if the command is not
    /// legal.
    ///
    /// - Parameter definition: the prefix of a deleted timer's definition; empty for a timer that exists.
    private func obey(
        _ command: ReceiverCommand, _ slot: SlotIndex?, _ definition: [UInt8], _ now: Now
    ) -> [UInt8]? {
        var id: [UInt8] = []
        do throws(TimerRefusal) {
            guard let slot else {
                if !definition.isEmpty { Definition.appendID(definition.span, to: &id) }
                throw .notFound
            }
            scheduler.withDefinition(slot) { Definition.appendID($0, to: &id) }
            switch command.header {
            case nil: throw .notFound
            case .cancel: try scheduler.apply(.cancel, slot, now, if: .none, &effects)
            case .suspend: try scheduler.apply(.suspend, slot, now, if: .none, &effects)
            case .reschedule(let delay, let inDays):
                try scheduler.putOff(slot, by: delay, inDays: inDays, now, &effects)
            }
            counters.commandsApplied += 1
            record()
            return nil
        } catch {
            effects.removeAll(keepingCapacity: true)
            counters.commandsRefused += 1
            return id
        }
    }

    /// Records the outcome of an attempt.
    private func record(_ end: AttemptEnd, _ now: Now) {
        var outcome = end.outcome
        if outcome.type == .deliveryFailed { outcome.retryAt = now.ceiling(on: .wall) + end.retryAfter }
        let owner = scheduler.delivery(outcome.delivery, now)?.slot
        outcome.isDetached = owner == nil
        let position = takePosition()
        counters.count(outcome.type)
        if let slot = owner ?? timerOfSameName(end.definition) {
            let previous = scheduler.stamp(slot, position: position, isBase: false, isEvent: true)
            let version = scheduler.progress(slot).version
            let distance = batch.distance(from: previous, to: position)
            if owner == nil {
                // The outcome's labels are those of the deleted timer.
                RecordCodec.append(
                    outcome, version: version, distance: distance, at: now.wall, definition: end.definition.span,
                    to: &batch.records.open)
            } else {
                scheduler.withDefinition(slot) { definition in
                    RecordCodec.append(
                        outcome, version: version, distance: distance, at: now.wall, definition: definition,
                        to: &batch.records.open)
                }
            }
        } else {
            RecordCodec.append(
                outcome, version: end.version, distance: 0, at: now.wall, definition: end.definition.span,
                to: &batch.records.open)
        }
        scheduler.settle(outcome, at: now.wall, position: position, wallOffset: now.wallOffset)
    }

    /// Finds the timer that has the name of a deleted one: a stream that follows the name also shows the outcomes
    /// of the deleted timer's deliveries.
    private func timerOfSameName(_ definition: [UInt8]) -> SlotIndex? {
        definition.isEmpty ? nil : scheduler.find(TimerKey(definition: definition.span, siphash: scheduler.siphash))
    }

    /// Records the definition of the timer at `slot`, which is being deleted, if dead letters outlive it.
    func recordWill(_ slot: SlotIndex) {
        guard scheduler.hasDeadLetters(slot) else { return }
        let will = DeliveryWill(position: takePosition(), takesDeliveries: scheduler.takesDeliveries(slot))
        scheduler.withDefinition(slot) { definition in
            RecordCodec.appendWill(
                takesDeliveries: will.takesDeliveries, at: clockNow.wall, definition: definition,
                to: &batch.records.open)
        }
        scheduler.noteWill(slot, will)
    }

    /// Records a client's change of a delivery.
    ///
    /// - Parameter definition: the definition of its timer, or its prefix; read only where `delivery` has no slot.
    /// - Returns: the position of the record.
    func record(_ delivery: DeliveryDetail, definition: [UInt8], _ now: Now) -> Int64 {
        let position = takePosition()
        guard let slot = delivery.slot else {
            RecordCodec.append(delivery, at: now.wall, isEvent: false, definition.span, to: &batch.records.open)
            return position
        }
        scheduler.withDefinition(slot) { definition in
            RecordCodec.append(delivery, at: now.wall, isEvent: false, definition, to: &batch.records.open)
        }
        return position
    }
}
