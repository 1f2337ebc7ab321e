/// The record of a deleted timer's definition as it was at the deletion, by which deliveries that outlived the
/// timer are sent.
public struct DeliveryWill: Sendable, Equatable {
    /// The position of the record.
    public var position: Int64
    /// Whether the timer had a webhook that its receiver had not stopped.
    public var takesDeliveries: Bool

    /// Makes a will; see the members.
    public init(position: Int64, takesDeliveries: Bool) {
        self.position = position
        self.takesDeliveries = takesDeliveries
    }
}
