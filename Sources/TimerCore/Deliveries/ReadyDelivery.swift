/// A delivery that is the next of its timer, or whose timer is deleted: it may be attempted once a record is durable.
struct ReadyDelivery: Sendable {
    /// Position of the event that is delivered.
    var id: Int64
    /// Position of the record: the event, or what made the delivery the next; 0 where everything is durable already.
    var restsOn: Int64
}
