/// The judgement of a request by its idempotency key.
public enum IdempotencyVerdict: Equatable, Sendable {
    /// The key is new: the request is under way from now on.
    case fresh
    /// The same request was cut: the log holds the parts at these positions. It is under way again from now on.
    case cut([Int64])
    /// The same request was answered; its answer is at these positions, part by part.
    case answered([Int64])
    /// Another request had this key.
    case mismatch
    /// The first request with this key is still under way.
    case inProgress
}
