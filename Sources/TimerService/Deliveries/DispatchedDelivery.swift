/// A delivery that is ready, as the dispatcher takes it over.
struct DispatchedDelivery {
    /// Position of the event.
    var id: Int64
    /// Position of the record that holds it.
    var body: Int64
    /// Where it goes; nil for a timer that is gone: its will holds it, or else its event.
    var origin: String?
    /// Position of the timer's will.
    var will: Int64?
}
