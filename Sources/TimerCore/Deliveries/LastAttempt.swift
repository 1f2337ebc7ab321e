/// The last finished attempt at a delivery, which failed.
public struct LastAttempt: Sendable, Equatable {
    /// The instant at which the attempt ended, in wall milliseconds.
    public var at: Int64
    /// The status of the answer; 0 if there was none.
    public var status: Int
    /// The reason there was no answer.
    public var failure: DeliveryFailure?

    /// Makes an attempt; see the members.
    public init(at: Int64, status: Int, failure: DeliveryFailure?) {
        self.at = at
        self.status = status
        self.failure = failure
    }
}
