/// What a record says about a timer's next fire.
public enum NextFire: Sendable, Equatable {
    /// Nothing: it is of another kind, or of the first format.
    case unsaid
    /// That none is planned.
    case unplanned
    /// The wall instant, in milliseconds.
    case at(Int64)
}
