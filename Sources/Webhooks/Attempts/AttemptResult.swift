public import TimerCore

/// How an attempt ended.
public enum AttemptResult: Sendable, Equatable {
    /// The receiver answered; `retryAfterMs` is its `Retry-After` as ``RetryAfter`` reads it.
    case answered(status: Int, retryAfterMs: Int64?)
    /// No answer came.
    case failed(DeliveryFailure)
}
