/// Where a deleted timer's definition stands as it was then: by it the deliveries go that outlived the timer.
public struct DeliveryWill: Sendable, Equatable {
    /// Position of the record.
    public var position: Int64
    /// Whether there was a webhook, and its receiver had not stopped it.
    public var takesDeliveries: Bool

    /// Makes a will; see the members.
    public init(position: Int64, takesDeliveries: Bool) {
        self.position = position
        self.takesDeliveries = takesDeliveries
    }
}
