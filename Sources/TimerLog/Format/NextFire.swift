/// A timer's next fire, as far as a record says it.
public enum NextFire: Sendable, Equatable {
    /// The record does not say: it is of another kind, or of the first format.
    case notRecorded
    /// No fire is planned.
    case unplanned
    /// The wall instant of the next fire, in milliseconds.
    case at(Int64)
}
