public import Platform

/// The bounds and policies of deliveries by webhook.
public struct DeliveryConfiguration: Sendable {
    /// The most exchanges with one host at once.
    public var perHost = 64
    /// The most exchanges in all at once.
    public var concurrency = 1024
    /// The most deliveries that may be pending; beyond that the oldest is dead.
    public var backlog = 10_000_000
    /// The most dead letters that are kept; beyond that the oldest is dropped.
    public var deadLetters = 1_000_000
    /// The policy, which can change while deliveries go on.
    public let policy = Published(DeliveryPolicy())
    /// The proxy for every delivery, as a URL; nil for none.
    public var proxy: String?

    /// Makes a configuration with every default.
    public init() {}
}
