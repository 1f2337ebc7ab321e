public import TimerCore

/// What an export reads.
extension Turn {
    /// How often a drain of this engine was taken back.
    public var undrains: Int { engine.undrains }

    /// Position of the newest record about the timer at `slot`.
    public func lastRecord(_ slot: SlotIndex) -> Int64 { engine.scheduler.lastRecord(slot) }

    /// The pending deliveries of the timer at `slot`, in the order in which they go. An attempt under way counts as not made.
    public func departing(_ slot: SlotIndex) -> [DeliveryStanding] {
        let ids = pendingDeliveries(of: slot)
        noteLooks(ids.count)
        return ids.compactMap { delivery($0).map(Self.withoutAttempt) }
    }

    /// A delivery as it is but for an attempt under way, which counts as not made.
    public static func withoutAttempt(_ delivery: DeliveryStanding) -> DeliveryStanding {
        guard delivery.state == .inFlight else { return delivery }
        var delivery = delivery
        delivery.state = .pending
        delivery.attempts -= 1
        return delivery
    }
}
