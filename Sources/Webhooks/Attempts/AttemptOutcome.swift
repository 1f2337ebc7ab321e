/// The consequence of an attempt for its delivery.
public enum AttemptOutcome: Sendable, Equatable {
    /// The receiver took the delivery (2xx).
    case delivered
    /// Another attempt is due this many milliseconds after this one's end.
    case retry(afterMs: Int64)
    /// The attempt was the last.
    case dead
    /// The receiver's status is one after which there is no other attempt.
    case rejected
    /// The receiver is gone for good (410): the timer's webhook stops.
    case stop
}
