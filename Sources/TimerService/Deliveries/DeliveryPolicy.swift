public import Webhooks

/// The part of the configuration of deliveries that can change while they go on. The secrets are read when an
/// attempt begins, the rules when it connects.
public struct DeliveryPolicy: Sendable {
    /// The secrets that sign the deliveries of webhooks that have none of their own.
    public var secrets: [WebhookSecret] = []
    /// The rules for where deliveries may go; empty: wherever they are not refused.
    public var allow: [AddressRule] = []
    /// The rules for where deliveries may not go.
    public var deny: [AddressRule] = []

    /// Makes a policy with every default.
    public init() {}
}
