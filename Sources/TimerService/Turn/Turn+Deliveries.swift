public import TimerCore

/// Deliveries, as clients see and change them.
extension Turn {
    /// Returns the delivery `id`, pending or dead; nil where there is none.
    public func delivery(_ id: Int64) -> DeliveryDetail? { engine.scheduler.delivery(id, now) }

    /// Hands deliveries above `id` to `body`, oldest first, until it returns false.
    ///
    /// - Parameters:
    ///   - dead: whether dead letters are wanted, or else pending deliveries.
    ///   - body: gets the top half of the hash of the timer's name too: see `TimerKey.hash`.
    public func walkDeliveries(after id: Int64, dead: Bool, _ body: (_ hash: UInt32, DeliveryDetail) -> Bool) {
        var looks = 0
        engine.scheduler.walkDeliveries(after: id, dead: dead, now) { hash, detail in
            looks += 1
            return body(hash, detail)
        }
        noteLooks(looks)
    }

    /// Returns the pending deliveries of the timer at `slot`, in the order in which they are sent.
    public func pendingDeliveries(of slot: SlotIndex) -> [Int64] { engine.scheduler.pendingDeliveries(of: slot) }

    /// Whether the timer of any pending delivery is deleted: the deliveries of a name may then not all be those of
    /// its timer.
    public var hasDetachedDeliveries: Bool { engine.scheduler.hasDetachedDeliveries }

    /// Whether the timer that a delivery belongs to is deleted, though there may be a later one of its name.
    ///
    /// - Parameter definition: as in `redrive`.
    public func isTimerDeleted(_ id: Int64, definition: [UInt8]) -> Bool {
        engine.scheduler.isTimerDeleted(id, TimerKey(definition: definition.span, siphash: engine.scheduler.siphash))
    }

    /// Returns the URL of the webhook that a delivery goes to, or would go to once it is redriven; nil where its timer is
    /// deleted, or has no webhook any more.
    ///
    /// - Parameter definition: as in `redrive`.
    /// - Returns: also whether the timer is there.
    public func webhookURL(of id: Int64, definition: [UInt8]) -> (isKnown: Bool, url: String?) {
        let key = TimerKey(definition: definition.span, siphash: engine.scheduler.siphash)
        guard let slot = delivery(id)?.slot ?? engine.scheduler.owner(ofDead: id, key) else { return (false, nil) }
        return (true, engine.url(of: slot))
    }

    /// Makes a dead letter pending again, for the webhook that its timer has now, or had when it was deleted.
    ///
    /// - Parameters:
    ///   - definition: the definition of its timer, or its prefix, as in the record of its event.
    ///   - isDry: whether only the result is found out, and nothing is changed.
    /// - Throws: `refused(notFound)` where there is no such delivery.
    public func redrive(
        _ id: Int64, definition: [UInt8], isDry: Bool = false
    ) throws(ServiceError) -> RedriveVerdict {
        if !isDry { try checkAvailable() }
        guard var delivery = delivery(id) else { throw .refused(.notFound) }
        guard let next = DeliveryMachine.next(.redriven, in: delivery.state) else { return .notDead(delivery.state) }
        guard engine.scheduler.pendingDeliveries < engine.scheduler.deliveryBacklog else { return .full }
        let key = TimerKey(definition: definition.span, siphash: engine.scheduler.siphash)
        let slot = engine.scheduler.owner(ofDead: id, key)
        if slot == nil, let will = delivery.will, !will.takesDeliveries { return .noWebhook }
        if let slot {
            guard engine.scheduler.takesDeliveries(slot) else { return .noWebhook }
            guard !engine.scheduler.hasMostDeliveries(slot) else { return .full }
        }
        delivery.slot = slot
        delivery.state = next
        delivery.attempts = 0
        delivery.lastAttempt = nil
        delivery.reason = .none
        delivery.redrivenAt = now.wall
        if isDry { return .redriven(delivery) }
        let position = engine.record(delivery, definition: definition, now)
        _ = engine.scheduler.redrive(id, key, at: now.wall, position: position)
        return .redriven(self.delivery(id) ?? delivery)
    }

    /// Drops a delivery, pending or dead; one in flight may still arrive.
    ///
    /// - Parameter definition: as in `redrive`.
    /// - Throws: `refused(notFound)` where there is no such delivery.
    public func dropDelivery(_ id: Int64, definition: [UInt8]) throws(ServiceError) {
        try checkAvailable()
        guard let delivery = delivery(id) else { throw .refused(.notFound) }
        engine.drop(delivery, definition: definition, now)
    }
}

/// The result of a redrive.
public enum RedriveVerdict: Sendable, Equatable {
    /// The dead letter is delivered again, from its first attempt on.
    case redriven(DeliveryDetail)
    /// The delivery is no dead letter.
    case notDead(DeliveryState)
    /// The delivery's timer has no webhook any more, or one that its receiver stopped.
    case noWebhook
    /// The delivery's timer, or the server, has as many pending deliveries as it may.
    case full
}
