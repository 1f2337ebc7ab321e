import Platform
import TimerCore
import TimerLog
import Webhooks

/// Deliveries, as the dispatcher takes them and clients change them.
extension Engine {
    /// Notes that the event that `effect` tells, at `position`, is to be delivered. A delivery above the bounds is dead.
    func owe(_ position: Int64, _ effect: Effect) {
        scheduler.owe(position, effect.slot)
        // One delivery more, one less; two less where the bounds were lowered since.
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

    /// Drops a delivery; no stream shows it.
    ///
    /// - Parameter definition: of its timer, or the prefix of it; empty where it is not known.
    func drop(_ delivery: DeliveryStanding, definition: [UInt8], _ now: Now) {
        var dropped = delivery
        dropped.slot = nil
        dropped.state = .stopped
        let position = record(dropped, definition: definition, now)
        _ = scheduler.dropDelivery(delivery.id, position: position)
    }

    /// Calls `observer` when deliveries are ready, under the lock. Called before anything changes.
    func observeReadyDeliveries(_ observer: @escaping () -> Void) { lock.withLock { onReadyDeliveries = observer } }

    /// Deliveries that are ready, each with the origin it goes to; nil for a timer that is gone.
    ///
    /// - Parameters:
    ///   - isLast: whether there are no more.
    ///   - restarts: how often the log was folded anew when they were taken: after a fold every delivery that was
    ///     taken before and not begun is ready again.
    func takeReady(limit: Int, isLast: inout Bool, restarts: inout Int) -> [DispatchedDelivery] {
        lock.withLock(.delivery) {
            isLast = true
            restarts = self.restarts
            // A delivery that is taken must be begun or be ready again, and while storage fails no attempt begins.
            guard !storageFails, !isDrained else { return [] }
            let durable = shownHead
            let ids = scheduler.takeReadyDeliveries(limit: limit, durable: durable)
            isLast = !scheduler.hasReadyDeliveries(durable: durable)
            return ids.compactMap { id in
                guard let delivery = scheduler.delivery(id, clockNow) else { return nil }
                let origin = delivery.slot.map { slot in
                    scheduler.withWebhook(slot) { WebhookConfiguration.origin(encoded: $0) } ?? nil
                }
                return DispatchedDelivery(
                    id: id, body: delivery.body, origin: origin ?? nil, will: delivery.will?.position)
            }
        }
    }

    /// Whether attempts may begin: storage works, and the server is not drained.
    var mayBeginDeliveries: Bool { lock.withLock(.delivery) { canDeliver } }

    private var canDeliver: Bool { !storageFails && !isDrained && lease?.isValid ?? true }

    /// Begins attempts at the deliveries `ids`, but for those that are no longer ready; nil while none may begin.
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

    /// Takes back the beginning of an attempt whose event can't be read now; the delivery is ready after `milliseconds`.
    func postpone(_ id: Int64, milliseconds: Int64) {
        lock.withLock(.delivery) {
            attempted.remove(id)
            scheduler.postponeDelivery(id, by: milliseconds, instant())
            afterChanges(clockNow)
        }
    }

    /// Records how attempts ended, each with what its receiver wants of the timer in one step.
    ///
    /// - Returns: how many were taken, as many as one hold of the lock may cost, none while storage takes no writes; and the
    ///   commands that were not legal.
    func settle(
        _ ends: ArraySlice<AttemptEnd>
    ) -> (taken: Int, refused: [(timer: [UInt8], command: ReceiverCommand)]) {
        lock.withLock(.delivery) {
            // Attempts that a drain finds under way still end.
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
                // A receiver stops a webhook that leads to it, not one that was changed to lead elsewhere since.
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

    /// Where the webhook of the timer at `slot` leads now; nil where it has none.
    private func url(of slot: SlotIndex) -> String? {
        scheduler.withWebhook(slot) { WebhookConfiguration.url(encoded: $0) } ?? nil
    }

    /// Whether the receiver of the timer at `slot` stopped its webhook, which by `definition` leads elsewhere.
    func isStoppedElsewhere(_ slot: SlotIndex, _ definition: [UInt8]) -> Bool {
        guard scheduler.progress(slot).flags.contains(.webhookStopped) else { return false }
        let webhook = Definition.layout(definition.span)?.webhook
        return webhook.flatMap { WebhookConfiguration.url(encoded: definition.span.extracting($0)) } != url(of: slot)
    }

    /// Applies a receiver's command to the timer at `slot`. Returns the timer's id where that is not legal.
    ///
    /// - Parameter definition: of a timer that is gone.
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
            case .reschedule(let delay): try scheduler.putOff(slot, by: delay, now, &effects)
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

    /// Records an outcome.
    private func record(_ end: AttemptEnd, _ now: Now) {
        var outcome = end.outcome
        if outcome.type == .deliveryFailed { outcome.retryAt = now.ceiling(on: .wall) + end.retryAfter }
        let owner = scheduler.delivery(outcome.delivery, now)?.slot
        outcome.isDetached = owner == nil
        let position = takePosition()
        counters.count(outcome.type)
        if let slot = owner ?? namesake(end.definition) {
            let previous = scheduler.stamp(slot, position: position, isBase: false, isEvent: true)
            let version = scheduler.progress(slot).version
            let distance = batch.distance(from: previous, to: position)
            if owner == nil {
                // Its labels are those of the timer that is gone.
                RecordCodec.append(
                    outcome, version: version, distance: distance, at: now.wall, definition: end.definition.span,
                    to: &batch.records)
            } else {
                scheduler.withDefinition(slot) { definition in
                    RecordCodec.append(
                        outcome, version: version, distance: distance, at: now.wall, definition: definition,
                        to: &batch.records)
                }
            }
        } else {
            RecordCodec.append(
                outcome, version: end.version, distance: 0, at: now.wall, definition: end.definition.span,
                to: &batch.records)
        }
        scheduler.settle(outcome, at: now.wall, position: position, wallOffset: now.wallOffset)
    }

    /// The timer that has the name of one that is gone: a stream that follows the name shows what becomes of its deliveries.
    private func namesake(_ definition: [UInt8]) -> SlotIndex? {
        definition.isEmpty ? nil : scheduler.find(TimerKey(definition: definition.span, siphash: scheduler.siphash))
    }

    /// Records the definition of the timer at `slot`, which is being deleted, where dead letters outlive it.
    func recordWill(_ slot: SlotIndex) {
        guard scheduler.leavesLetters(slot) else { return }
        let will = DeliveryWill(position: takePosition(), takesDeliveries: scheduler.takesDeliveries(slot))
        scheduler.withDefinition(slot) { definition in
            RecordCodec.appendWill(
                takesDeliveries: will.takesDeliveries, at: clockNow.wall, definition: definition, to: &batch.records)
        }
        scheduler.noteWill(slot, will)
    }

    /// Records a change of a delivery that a client made.
    ///
    /// - Parameter definition: of its timer, or the prefix of it, where it belongs to none.
    /// - Returns: position of the record.
    func record(_ delivery: DeliveryStanding, definition: [UInt8], _ now: Now) -> Int64 {
        let position = takePosition()
        guard let slot = delivery.slot else {
            RecordCodec.append(delivery, at: now.wall, isEvent: false, definition.span, to: &batch.records)
            return position
        }
        scheduler.withDefinition(slot) { definition in
            RecordCodec.append(delivery, at: now.wall, isEvent: false, definition, to: &batch.records)
        }
        return position
    }
}
