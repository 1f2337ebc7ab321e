/// The fold of deliveries at recovery: the log's records are copied, nothing is decided.
extension Scheduler {
    /// Notes that the event at position `id`, about the timer of `definition`, is to be delivered.
    public mutating func foldOwed(_ id: Int64, definition: Span<UInt8>) {
        // The timer is mostly that of the record itself.
        if let last = lastFolded, table.isNamed(last, by: definition) { return append(id, last) }
        indexFolded()
        let key = TimerKey(definition: definition, siphash: table.siphash)
        guard let slot = table.find(key) else {
            return deliveries.appendDetached(id, life(definition: definition))
        }
        append(id, slot)
    }

    /// Applies the record of a deleted timer's definition.
    public mutating func foldWill(_ will: DeliveryWill, definition: Span<UInt8>) { moveWill(definition, will) }

    /// Applies an outcome, recorded at `position`.
    ///
    /// - Parameter definition: the definition of the timer, or the prefix of it.
    public mutating func fold(_ outcome: DeliveryOutcome, definition: Span<UInt8>, at: Int64, position: Int64) {
        indexFolded()
        settle(outcome, at: at, position: position, wallOffset: 0)
        guard !definition.isEmpty,
            let slot = table.find(TimerKey(definition: definition, siphash: table.siphash))
        else { return }
        table.setLastEvent(slot, position)
        // The delivery's own record may have been compacted away before those of deliveries that ended with it.
        if outcome.reason == .gone && !outcome.isDetached {
            dropDeliveries(slot)
            stopWebhook(slot)
        }
    }

    /// Applies the state of a delivery that the record at `position` holds.
    ///
    /// - Parameters:
    ///   - detail: the delivery's state, with its due instant on the wall clock; its slot is nil if it belongs to
    ///     no timer.
    ///   - definition: the definition of its timer; the prefix of it if the delivery belongs to none.
    ///   - progress: the timer's progress at the event; nil if the record does not hold the event.
    ///   - wallOffset: the milliseconds from the elapsed clock to the wall clock; 0 while a log is folded.
    public mutating func foldDelivery(
        _ detail: DeliveryDetail, definition: Span<UInt8>, progress: (TimerProgress, KickProgress?)?,
        position: Int64, wallOffset: Int64 = 0
    ) {
        indexFolded()
        let key = TimerKey(definition: definition, siphash: table.siphash)
        if detail.slot != nil, table.find(key) == nil {
            // The timer's own record was written again since, and follows.
            let (progress, kicks) = progress ?? (TimerProgress(), nil)
            _ = fold(
                definition: definition, isWhole: true, progress: progress, kicks: kicks, position: detail.id,
                lastEvent: detail.id)
        }
        let isCarried = progress != nil
        if deliveries.find(detail.id) == nil {
            guard isCarried else { return }
            if detail.slot == nil {
                deliveries.appendDetached(detail.id, life(definition: definition))
            } else {
                foldOwed(detail.id, definition: definition)
            }
        }
        guard let place = deliveries.find(detail.id) else { return }
        if isCarried { deliveries.setBody(place, position) }
        defer { if let last = detail.lastAttempt { deliveries.slots[place].lastAttempt = last } }
        switch detail.state {
        case .dead:
            guard deliveries.slots[place].state != .dead else { return }
            var outcome = DeliveryOutcome(.deliveryDead, delivery: detail.id, attempt: detail.attempts)
            outcome.reason = detail.reason
            settle(
                outcome, at: detail.due - DeliveryTable.deadLifetime, position: position, wallOffset: wallOffset)
        case .pending, .inFlight:
            if deliveries.slots[place].state == .dead {
                return moveToPending(place, key, at: detail.redrivenAt, restsOn: position)
            }
            deliveries.setRedriven(place, at: detail.redrivenAt)
            deliveries.slots[place].state = .pending
            deliveries.slots[place].attempts = detail.attempts
        case .waiting:
            deliveries.setRedriven(place, at: detail.redrivenAt)
            deliveries.slots[place].state = .waiting
            deliveries.slots[place].attempts = detail.attempts
            deliveries.arm(place, due: detail.due - wallOffset)
        case .delivered, .stopped:
            _ = dropDelivery(detail.id, position: position)
        }
    }
}
