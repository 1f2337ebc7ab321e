/// Attempts at deliveries: those that may begin next, their beginning and postponement, and the state of each delivery.
extension Scheduler {
    /// Whether any delivery may be attempted, once everything up to `position` is durable.
    public func hasReadyDeliveries(durable position: Int64) -> Bool {
        deliveries.startAfter != nil || deliveries.ready.first.map { $0.restsOn <= position } ?? false
    }

    /// Takes deliveries that may be attempted and whose records are durable, in the order in which they became so.
    ///
    /// - Parameter durable: the position up to which everything is durable.
    public mutating func takeReadyDeliveries(limit: Int, durable: Int64) -> [Int64] {
        var taken: [Int64] = []
        continueStart(limit: limit)
        while taken.count < limit, let next = deliveries.ready.first, next.restsOn <= durable {
            taken.append(next.id)
            _ = deliveries.ready.popFirst()
        }
        return taken
    }

    /// Goes on after `startAfter` through up to `limit` of the deliveries that a fold of the log left pending: each
    /// timer's oldest becomes ready, unless it waits for its due instant.
    private mutating func continueStart(limit: Int) {
        guard let after = deliveries.startAfter else { return }
        var looked = 0
        var last = after
        var found: [Int64] = []
        deliveries.pending.walk(after: after, deliveries.slots) { place in
            looked += 1
            let slot = deliveries.slots[place]
            last = slot.id
            if slot.state == .pending, isOldest(place) { found.append(slot.id) }
            return looked < limit
        }
        for id in found { deliveries.ready.append(ReadyDelivery(id: id, restsOn: 0)) }
        deliveries.startAfter = looked < limit ? nil : last
    }

    func isOldest(_ place: UInt32) -> Bool {
        let slot = deliveries.slots[place]
        return slot.isDetached || deliveries.slots[table[slot.owner].deliveries].next == place
    }

    /// Makes a timer's oldest delivery ready again, as its webhook may have another host now.
    mutating func requeueDeliveries(_ slot: SlotIndex) {
        let tail = table[slot].deliveries
        guard tail != 0 else { return }
        let oldest = deliveries.slots[deliveries.slots[tail].next]
        if oldest.state == .pending { deliveries.ready.append(ReadyDelivery(id: oldest.id, restsOn: 0)) }
    }

    /// Begins an attempt at a delivery that is its timer's next. Returns nil if it is the next no longer, or if the
    /// record of its definition, or of its redrive, is not durable yet: the delivery comes up again once that is.
    ///
    /// - Parameter durable: the position up to which everything is durable.
    public mutating func beginDelivery(_ id: Int64, _ now: Now, durable: Int64) -> DeliveryDetail? {
        guard let place = deliveries.pending.find(id, deliveries.slots),
            let next = DeliveryMachine.next(.started, in: deliveries.slots[place].state), isOldest(place)
        else { return nil }
        let slot = deliveries.slots[place]
        let redefinedAt = slot.isDetached ? nil : deliveries.redefinedAt[slot.owner]
        let restsOn = max(redefinedAt ?? 0, deliveries.redrivenAt[id] ?? 0)
        guard restsOn <= durable else {
            deliveries.ready.append(ReadyDelivery(id: id, restsOn: restsOn))
            return nil
        }
        if redefinedAt != nil { deliveries.redefinedAt[slot.owner] = nil }
        deliveries.redrivenAt[id] = nil
        deliveries.slots[place].state = next
        deliveries.slots[place].attempts += 1
        return detail(place, now)
    }

    /// Notes that an attempt is under way that the log, folded again, has no record of.
    public mutating func rejoinDelivery(_ id: Int64) {
        guard let place = deliveries.pending.find(id, deliveries.slots) else { return }
        let owner = deliveries.slots[place].isDetached ? nil : deliveries.slots[place].owner
        var tail = owner.map { table[$0].deliveries } ?? 0
        deliveries.rejoin(place, tail: &tail)
        if let owner { table.setDeliveries(owner, tail) }
    }

    /// Takes the beginning of an attempt back; the delivery comes up again after `milliseconds`.
    public mutating func postponeDelivery(_ id: Int64, by milliseconds: Int64, _ now: Now) {
        guard let place = deliveries.pending.find(id, deliveries.slots),
            let next = DeliveryMachine.next(.postponed, in: deliveries.slots[place].state)
        else { return }
        deliveries.slots[place].attempts -= 1
        deliveries.slots[place].state = next
        deliveries.arm(place, due: now.ceiling(on: .continuous) + milliseconds)
    }

    /// Notes that the record at `position` changed the definition of the timer at `slot`.
    public mutating func noteRedefined(_ slot: SlotIndex, at position: Int64) {
        if table[slot].deliveries != 0 { deliveries.redefinedAt[slot] = position }
    }

    /// Makes deliveries whose wait is over pending, and forgets dead letters that were kept long enough.
    ///
    /// - Returns: whether all of them were handled.
    mutating func expireDeliveries(_ now: Now, limit: Int) -> Bool {
        expired.removeAll(keepingCapacity: true)
        var budget = limit
        let done = deliveries.wheel.expire(
            now.milliseconds(on: .continuous), budget: &budget, into: &expired, armed: deliveries.slots)
        for entry in expired {
            let place = entry.slot
            if deliveries.slots[place].state == .dead {
                // The wheel has dropped the entry already, so it must not be cancelled.
                deliveries.slots[place].state = .stopped
                deliveries.removeDead(place)
            } else if let next = DeliveryMachine.next(.due, in: deliveries.slots[place].state) {
                deliveries.slots[place].state = next
                if isOldest(place) {
                    deliveries.ready.append(ReadyDelivery(id: deliveries.slots[place].id, restsOn: 0))
                }
            }
        }
        return done && !(deliveries.wheel.nextWake.map { $0 <= now.milliseconds(on: .continuous) } ?? false)
    }

    /// Returns the state of a delivery that is pending or dead; nil for any other.
    public func delivery(_ id: Int64, _ now: Now) -> DeliveryDetail? {
        deliveries.find(id).map { detail($0, now) }
    }

    /// Hands deliveries above `id`, oldest first, to `body` until it returns false.
    ///
    /// - Parameters:
    ///   - dead: whether to walk dead letters, not pending deliveries.
    ///   - body: gets the top half of the hash of the timer's name, and the delivery.
    public func walkDeliveries(
        after id: Int64, dead: Bool, _ now: Now, _ body: (_ hash: UInt32, DeliveryDetail) -> Bool
    ) {
        let index = dead ? deliveries.dead : deliveries.pending
        index.walk(after: id, deliveries.slots) { place in
            let slot = deliveries.slots[place]
            return body(slot.isDetached ? slot.owner : hash(slot.owner), detail(place, now))
        }
    }

    private func detail(_ place: UInt32, _ now: Now) -> DeliveryDetail {
        let slot = deliveries.slots[place]
        var detail = DeliveryDetail(
            id: slot.id, body: deliveries.body(place), slot: slot.isDetached ? nil : slot.owner, state: slot.state)
        detail.attempts = slot.attempts
        detail.lastAttempt = slot.lastAttempt
        if slot.isDetached { detail.will = deliveries.lives[slot.next].will }
        if slot.state == .waiting || slot.state == .dead {
            let elapsed = now.milliseconds(on: .continuous)
            detail.due = slot.due(near: elapsed) + now.wallOffset
        }
        if slot.state == .dead { detail.reason = slot.reason }
        detail.redrivenAt = deliveries.redrivenAt(place)
        return detail
    }
}
