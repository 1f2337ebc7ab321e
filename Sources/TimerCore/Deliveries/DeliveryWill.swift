/// Where the definition of a deleted timer stands as it was at the deletion. Deliveries that outlived the timer are
/// sent by it.
public struct DeliveryWill: Sendable, Equatable {
    /// Position of the record.
    public var position: Int64
    /// Whether the timer had a webhook that its receiver had not stopped.
    public var takesDeliveries: Bool

    /// Makes a will; see the members.
    public init(position: Int64, takesDeliveries: Bool) {
        self.position = position
        self.takesDeliveries = takesDeliveries
    }
}
