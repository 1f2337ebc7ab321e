public import TimerCore

/// The state that an export reads.
extension Turn {
    /// A stamp that stays the same while this engine goes on and no drain of it is taken back. Other engines have
    /// other stamps.
    public var drainStamp: UInt64 { engine.drainStamp }

    /// Returns the position of the newest record about the timer at `slot`.
    public func lastRecord(_ slot: SlotIndex) -> Int64 { engine.scheduler.lastRecord(slot) }

    /// Returns the pending deliveries of the timer at `slot`, in the order in which they are sent. An attempt under
    /// way counts as not made.
    public func departing(_ slot: SlotIndex) -> [DeliveryDetail] {
        let ids = pendingDeliveries(of: slot)
        noteLooks(ids.count)
        return ids.compactMap { delivery($0).map(Self.withoutAttempt) }
    }

    /// Returns a delivery as it is, except that an attempt under way counts as not made.
    public static func withoutAttempt(_ delivery: DeliveryDetail) -> DeliveryDetail {
        guard delivery.state == .inFlight else { return delivery }
        var delivery = delivery
        delivery.state = .pending
        delivery.attempts -= 1
        return delivery
    }
}
