/// Deliveries of events to webhooks: those that are owed, and their outcomes.
extension Scheduler {
    /// The most deliveries of one timer that may be pending.
    public static let mostDeliveriesPerTimer = DeliveryTable.mostPerTimer
    /// The time for which a dead letter is kept, in milliseconds.
    public static let deadLetterLifetime = DeliveryTable.deadLifetime

    /// The number of pending deliveries, those in flight and waiting included.
    public var pendingDeliveries: Int { deliveries.pending.count }

    /// The most deliveries that may be pending: see `boundDeliveries`.
    public var deliveryBacklog: Int { deliveries.backlog }

    /// Whether the timer of any pending delivery is deleted.
    public var hasDetachedDeliveries: Bool { deliveries.detachedCount > 0 }

    /// The number of dead letters.
    public var deadDeliveries: Int { deliveries.dead.count }

    /// Sets how many deliveries may be pending in all, and how many dead letters are kept; the oldest dead letters
    /// above that are dropped.
    public mutating func boundDeliveries(backlog: Int, deadLetters: Int) {
        deliveries.backlog = backlog
        deliveries.deadLetters = deadLetters
        while deliveries.dead.count > deadLetters, let oldest = deliveries.dead.first { deliveries.removeDead(oldest) }
    }

    /// Notes that the event at position `id`, about the timer at `slot`, is to be delivered. A timer that is being
    /// deleted is still readable.
    public mutating func owe(_ id: Int64, _ slot: SlotIndex) {
        let isOldest: Bool
        if table[slot].inUse {
            isOldest = table[slot].deliveries == 0
            append(id, slot)
        } else {
            isOldest = true
            deliveries.appendDetached(id, life(slot))
        }
        if isOldest { deliveries.ready.append(ReadyDelivery(id: id, restsOn: id)) }
    }

    mutating func append(_ id: Int64, _ slot: SlotIndex) {
        var tail = table[slot].deliveries
        deliveries.append(id, owner: slot, tail: &tail)
        table.setDeliveries(slot, tail)
    }

    /// Returns the delivery that has to die because too many of the timer at `slot`, or in all, are pending: the
    /// oldest that is not in flight. Nil when there are not too many.
    public func surplusDelivery(_ slot: SlotIndex) -> Int64? {
        let tail = table[slot].deliveries
        if deliveries.count(tail: tail) > DeliveryTable.mostPerTimer {
            let oldest = deliveries.slots[tail].next
            let mayDie = DeliveryMachine.next(.overflowed, in: deliveries.slots[oldest].state) != nil
            return deliveries.slots[mayDie ? oldest : deliveries.slots[oldest].next].id
        }
        guard deliveries.pending.count > deliveries.backlog else { return nil }
        var found: Int64?
        deliveries.pending.walk(after: .min, deliveries.slots) { place in
            let slot = deliveries.slots[place]
            if DeliveryMachine.next(.overflowed, in: slot.state) != nil { found = slot.id }
            return found == nil
        }
        return found
    }

    /// Notes that the record at `position` now holds the event of the delivery `id`.
    public mutating func noteCarried(_ id: Int64, at position: Int64) {
        if let place = deliveries.find(id) { deliveries.setBody(place, position) }
    }

    /// Returns the life of the timer at `slot`.
    private func life(_ slot: SlotIndex) -> DeliveryLives.Key {
        DeliveryLives.Key(hash: hash(slot), createdAt: withDefinition(slot, Definition.createdAt))
    }

    /// Returns the slot of the timer that a delivery outside of rings belongs to; nil once that timer is deleted,
    /// though there may be a later one of its name.
    func owner(_ place: UInt32, _ key: borrowing TimerKey) -> SlotIndex? {
        guard let slot = table.find(key) else { return nil }
        return life(slot) == deliveries.lives[deliveries.slots[place].next].key ? slot : nil
    }

    /// Returns the slot of the timer that the dead letter `id` belongs to; nil once that timer is deleted.
    public func owner(ofDead id: Int64, _ key: borrowing TimerKey) -> SlotIndex? {
        deliveries.dead.find(id, deliveries.slots).flatMap { owner($0, key) }
    }

    /// Whether the timer named `key` that the delivery `id` belongs to is deleted.
    public func isTimerDeleted(_ id: Int64, _ key: borrowing TimerKey) -> Bool {
        guard let place = deliveries.find(id), deliveries.slots[place].isDetached else { return false }
        return owner(place, key) == nil
    }

    /// Whether the timer at `slot`, which may be being deleted, has dead letters that will outlive it.
    public func hasDeadLetters(_ slot: SlotIndex) -> Bool { deliveries.lives.contains(life(slot)) }

    /// Notes the record of the definition of the timer at `slot`, which is being deleted.
    public mutating func noteWill(_ slot: SlotIndex, _ will: DeliveryWill) {
        deliveries.lives.setWill(will, of: life(slot))
    }

    /// Returns the will of the deleted timer of this whole definition; nil if no delivery is sent by it any more.
    public func will(_ definition: Span<UInt8>) -> DeliveryWill? {
        deliveries.lives.will(of: life(definition: definition))
    }

    /// Notes that the will of the deleted timer of this whole definition is now another record.
    public mutating func moveWill(_ definition: Span<UInt8>, _ will: DeliveryWill) {
        deliveries.lives.setWill(will, of: life(definition: definition))
    }

    func life(definition: Span<UInt8>) -> DeliveryLives.Key {
        let hash = TimerKey.hash(definition: definition, siphash: table.siphash)
        return DeliveryLives.Key(
            hash: UInt32(truncatingIfNeeded: hash >> 32), createdAt: Definition.createdAt(definition))
    }

    /// Whether the timer at `slot` has as many pending deliveries as it may have.
    public func hasMostDeliveries(_ slot: SlotIndex) -> Bool {
        deliveries.count(tail: table[slot].deliveries) >= DeliveryTable.mostPerTimer
    }

    /// Returns the ids of the pending deliveries of the timer at `slot`, in the order in which they are sent.
    public func pendingDeliveries(of slot: SlotIndex) -> [Int64] {
        let tail = table[slot].deliveries
        guard tail != 0 else { return [] }
        var ids: [Int64] = []
        var place = tail
        repeat {
            place = deliveries.slots[place].next
            ids.append(deliveries.slots[place].id)
        } while place != tail
        return ids
    }

    /// Whether the webhook of the timer at `slot` takes deliveries: there is one, and its receiver did not stop it.
    public func takesDeliveries(_ slot: SlotIndex) -> Bool {
        !table[slot].flags.contains(.webhookStopped) && layout(slot).webhook != nil
    }

    /// Applies the outcome of an attempt, recorded at `position`: the timer's next delivery may be attempted once
    /// that record is durable.
    ///
    /// - Parameters:
    ///   - at: wall milliseconds of the outcome.
    ///   - wallOffset: the milliseconds from the elapsed clock to the wall clock; 0 while a log is folded.
    public mutating func settle(_ outcome: DeliveryOutcome, at: Int64, position: Int64, wallOffset: Int64) {
        guard let place = deliveries.pending.find(outcome.delivery, deliveries.slots) else { return }
        deliveries.slots[place].attempts = outcome.attempt
        if outcome.endsAttempt {
            deliveries.slots[place].lastAttempt = LastAttempt(at: at, status: outcome.status, failure: outcome.failure)
        }
        let owner = deliveries.slots[place].isDetached ? nil : deliveries.slots[place].owner
        var tail = owner.map { table[$0].deliveries } ?? 0
        switch (outcome.type, outcome.reason) {
        case (.deliveryFailed, _):
            deliveries.slots[place].state = .waiting
            return deliveries.arm(place, due: outcome.retryAt - wallOffset)
        case (.deliveryDead, .gone) where owner != nil:
            deliveries.removeAll(tail: &tail)
            if let owner { stopWebhook(owner) }
        case (.deliveryDead, .attempts), (.deliveryDead, .backlog), (.deliveryDead, .status), (.deliveryDead, .age):
            let due = at + DeliveryTable.deadLifetime - wallOffset
            deliveries.moveToDead(place, tail: &tail, owner.map { life($0) }, outcome.reason, due: due)
        default:
            deliveries.remove(place, tail: &tail)
        }
        if let owner { setRing(owner, tail, restsOn: position) }
    }

    mutating func stopWebhook(_ slot: SlotIndex) {
        var progress = table.progress(slot)
        progress.flags.insert(.webhookStopped)
        table.setProgress(slot, progress)
    }

    /// Stores a timer's ring after a delivery left it: the oldest of the rest may be attempted, or, if none is
    /// left, an ended timer forgotten.
    private mutating func setRing(_ slot: SlotIndex, _ tail: UInt32, restsOn position: Int64) {
        table.setDeliveries(slot, tail)
        if tail == 0 && !deliveries.redefinedAt.isEmpty { deliveries.redefinedAt[slot] = nil }
        guard deliveries.isArming else { return }
        if tail != 0 {
            let oldest = deliveries.slots[deliveries.slots[tail].next]
            if oldest.state == .pending {
                deliveries.ready.append(ReadyDelivery(id: oldest.id, restsOn: position))
            }
        } else if table[slot].state.hasEnded && table[slot].armed == .no {
            elapsedWheel.insert(table.arm(slot, .elapsed, due: table[slot].due))
        }
    }

    /// Makes a dead letter pending again; its timer is looked up by name, and may be deleted. Returns false if
    /// there is no such letter.
    ///
    /// - Parameters:
    ///   - instant: the instant from which its age counts, in wall milliseconds.
    ///   - position: the position of the record of the redrive.
    public mutating func redrive(_ id: Int64, _ key: borrowing TimerKey, at instant: Int64, position: Int64) -> Bool {
        guard let place = deliveries.dead.find(id, deliveries.slots) else { return false }
        moveToPending(place, key, at: instant, restsOn: position)
        return true
    }

    mutating func moveToPending(
        _ place: UInt32, _ key: borrowing TimerKey, at instant: Int64?, restsOn position: Int64
    ) {
        let slot = owner(place, key)
        var tail = slot.map { table[$0].deliveries } ?? 0
        deliveries.moveToPending(place, owner: slot, tail: &tail, at: instant)
        if let slot { table.setDeliveries(slot, tail) }
        guard deliveries.isArming else { return }
        deliveries.redrivenAt[deliveries.slots[place].id] = position
        if isOldest(place) {
            deliveries.ready.append(ReadyDelivery(id: deliveries.slots[place].id, restsOn: position))
        }
    }

    /// Drops a delivery; `position` is that of the record of the drop. Returns false if there is none.
    public mutating func dropDelivery(_ id: Int64, position: Int64) -> Bool {
        if let place = deliveries.dead.find(id, deliveries.slots) {
            deliveries.removeDead(place)
            return true
        }
        guard let place = deliveries.pending.find(id, deliveries.slots) else { return false }
        let owner = deliveries.slots[place].isDetached ? nil : deliveries.slots[place].owner
        var tail = owner.map { table[$0].deliveries } ?? 0
        deliveries.remove(place, tail: &tail)
        if let owner { setRing(owner, tail, restsOn: position) }
        return true
    }

    /// Drops the pending deliveries of a timer.
    mutating func dropDeliveries(_ slot: SlotIndex) {
        var tail = table[slot].deliveries
        deliveries.removeAll(tail: &tail)
        deliveries.redefinedAt[slot] = nil
        table.setDeliveries(slot, 0)
    }

    /// Drops the pending deliveries of a timer that has no webhook any more.
    mutating func dropUndeliverable(_ slot: SlotIndex) {
        if table[slot].deliveries != 0, layout(slot).webhook == nil { dropDeliveries(slot) }
    }
}
