public import Webhooks

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
    /// Sign the deliveries of webhooks that have no secrets of their own.
    public var secrets: [WebhookSecret] = []
    /// Where deliveries may go; empty: wherever they are not refused.
    public var allow: [AddressRule] = []
    /// Where deliveries may not go.
    public var deny: [AddressRule] = []
    /// The proxy for every delivery, as a URL; nil: none.
    public var proxy: String?

    /// Every default.
    public init() {}
}
