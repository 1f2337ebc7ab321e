/// What an idempotency key says about a request.
public enum IdempotencyVerdict: Equatable, Sendable {
    /// Nothing yet: the request is under way from now on.
    case fresh
    /// The same request was cut: the parts at these positions stand. It is under way again from now on.
    case cut([Int64])
    /// The same request was answered; its answer is at these positions, part by part.
    case answered([Int64])
    /// Another request had this key.
    case mismatch
    /// The first is still under way.
    case inProgress
}
