/// A delivery that is ready, as the dispatcher takes it over.
struct TakenDelivery {
    /// Position of the event.
    var id: Int64
    /// Position of the record that holds the event.
    var body: Int64
    /// The origin that the delivery goes to; nil for a deleted timer, whose will holds the webhook, or else its event.
    var origin: String?
    /// Position of a deleted timer's will (see `DeliveryWill`); nil where there is none.
    var will: Int64?
}
