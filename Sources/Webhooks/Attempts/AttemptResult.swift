public import TimerCore

/// The end of an attempt: an answer or a failure.
public enum AttemptResult: Sendable, Equatable {
    /// The receiver answered; `retryAfterMs` is its `Retry-After` as ``RetryAfter`` reads it.
    case answered(status: Int, retryAfterMs: Int64?)
    /// No answer came.
    case failed(DeliveryFailure)
}
