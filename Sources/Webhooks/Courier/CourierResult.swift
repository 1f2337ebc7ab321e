public import TimerCore

/// The result of one request.
public struct CourierResult: Sendable, Equatable {
    /// The request's number.
    public var serial: UInt64
    /// The answer's status code; 0 where there was none.
    ///
    /// A 2xx counts once the whole answer came, of which bytes beyond `CourierLimits.bodyLimit` are cut off; any other
    /// status counts once the head came.
    public var status: Int
    /// The value of the answer's first `Retry-After`; at most its first 256 bytes.
    public var retryAfter: [UInt8]?
    /// The value of the answer's first `Timer-Command`; at most its first 256 bytes.
    public var timerCommand: [UInt8]?
    /// The reason why there was no answer; nil for an answer.
    ///
    /// A request that can't be sent as it is counts as `malformed`; one that was not sent or was aborted for
    /// another reason, such as a stop, as `interrupted`.
    public var failure: DeliveryFailure?
    /// The failure in one line, for a person to read; nil for an answer.
    public var error: String?
    /// The instant at which the request began, on the monotonic clock, in nanoseconds; equal to `endedAt` where it
    /// never did.
    public var startedAt: Int64
    /// The instant at which the request ended, on the same clock.
    public var endedAt: Int64

    /// Makes a result; see the members.
    public init(
        serial: UInt64, status: Int = 0, retryAfter: [UInt8]? = nil, timerCommand: [UInt8]? = nil,
        failure: DeliveryFailure? = nil, error: String? = nil, startedAt: Int64, endedAt: Int64
    ) {
        self.serial = serial
        self.status = status
        self.retryAfter = retryAfter
        self.timerCommand = timerCommand
        self.failure = failure
        self.error = error
        self.startedAt = startedAt
        self.endedAt = endedAt
    }
}
