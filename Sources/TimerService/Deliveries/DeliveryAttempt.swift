/// An attempt that may be made, with what its request needs.
struct DeliveryAttempt {
    /// Position of the event.
    var id: Int64
    /// Position of the record that holds the event.
    var body: Int64
    /// The attempt's number, from 1.
    var number: Int
    /// The instant at which the attempt began, in wall milliseconds.
    var begunAt: Int64
    /// The instant at which the delivery was redriven, in wall milliseconds; nil where it was not.
    var redrivenAt: Int64?
    /// The timer's present webhook, encoded; nil for a deleted timer, whose will holds the webhook, or else its event.
    var webhook: [UInt8]?
    /// Position of a deleted timer's will (see `DeliveryWill`); nil where there is none.
    var will: Int64?
}
