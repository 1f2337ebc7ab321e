/// What becomes of a delivery by an attempt.
public enum AttemptOutcome: Sendable, Equatable {
    /// The receiver took it (2xx).
    case delivered
    /// Another attempt is due that many milliseconds after this one's end.
    case retry(afterMs: Int64)
    /// That was the last attempt.
    case dead
    /// The receiver is gone for good (410): the timer's webhook stops.
    case stop
}
