public import Webhooks

/// What of the configuration of deliveries can change while they go on: an attempt begins with one and keeps it.
public struct DeliveryPolicy: Sendable {
    /// Sign the deliveries of webhooks that have no secrets of their own.
    public var secrets: [WebhookSecret] = []
    /// Where deliveries may go; empty: wherever they are not refused.
    public var allow: [AddressRule] = []
    /// Where deliveries may not go.
    public var deny: [AddressRule] = []

    /// Every default.
    public init() {}
}
