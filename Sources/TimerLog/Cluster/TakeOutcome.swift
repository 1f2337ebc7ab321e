/// The outcome of a take-over, where it is known.
public enum TakeOutcome: Sendable, Equatable {
    /// The session owns the log from the barrier on.
    case taken(Barrier)
    /// Nothing was changed: the log has another epoch, its owner's session has not been ended, or the taker's has.
    case refused
    /// Nothing was changed: a statement of the old owner holds the key of the barrier.
    case blocked
}
