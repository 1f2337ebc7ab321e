/// A delivery that is the next of its timer, or whose timer is deleted: it may be attempted once a record is durable.
struct ReadyDelivery: Sendable {
    /// The position of the event that is delivered.
    var id: Int64
    /// The position of the record that must be durable: the event, or the change that made the delivery the next; 0
    /// if everything is durable already.
    var restsOn: Int64
}
