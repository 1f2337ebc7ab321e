public import Platform

/// The bounds and policies of deliveries by webhook.
public struct DeliveryConfiguration: Sendable {
    /// Exchanges with one host at once.
    public var perHost = 64
    /// Exchanges in all at once.
    public var concurrency = 1024
    /// Most deliveries that may be pending; above, the oldest is dead.
    public var backlog = 10_000_000
    /// Most dead letters kept; above, the oldest is dropped.
    public var deadLetters = 1_000_000
    /// What can change while deliveries go on.
    public let policy = Published(DeliveryPolicy())
    /// The proxy for every delivery, as a URL; nil: none.
    public var proxy: String?

    /// Every default.
    public init() {}
}
