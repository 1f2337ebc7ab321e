public import TimerCore

/// What an export reads.
extension Turn {
    /// Stays the same while this engine goes on and no drain of it is taken back. Other engines have other ones.
    public var drainStamp: UInt64 { engine.drainStamp }

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
