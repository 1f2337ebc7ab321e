/// An attempt that may be made, with what its request needs.
struct DeliveryAttempt {
    /// Position of the event.
    var id: Int64
    /// Position of the record that holds it.
    var body: Int64
    /// 1 for the first.
    var number: Int
    /// When it began, wall milliseconds.
    var begunAt: Int64
    /// When the delivery was redriven, wall milliseconds; nil where it was not.
    var redrivenAt: Int64?
    /// The webhook as it stands, encoded; nil for a timer that is gone: its will holds it, or else its event.
    var webhook: [UInt8]?
    /// Position of the timer's will.
    var will: Int64?
}
