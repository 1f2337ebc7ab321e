/// What an attempt means for its delivery.
public enum AttemptOutcome: Sendable, Equatable {
    /// The receiver took it (2xx).
    case delivered
    /// Another attempt is due this many milliseconds after this one's end.
    case retry(afterMs: Int64)
    /// That was the last attempt.
    case dead
    /// The receiver's status is one after which there is no other attempt.
    case rejected
    /// The receiver is gone for good (410): the timer's webhook stops.
    case stop
}
