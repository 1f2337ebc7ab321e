/// How the last finished attempt at a delivery failed.
public struct LastAttempt: Sendable, Equatable {
    /// When it ended, wall milliseconds.
    public var at: Int64
    /// Status of the answer; 0 where there was none.
    public var status: Int
    /// Why there was none.
    public var failure: DeliveryFailure?

    /// Makes one; see the members.
    public init(at: Int64, status: Int, failure: DeliveryFailure?) {
        self.at = at
        self.status = status
        self.failure = failure
    }
}
