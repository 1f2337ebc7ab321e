public import Platform
public import TimerLog
public import Webhooks

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

/// The parts of deliveries that the API supplies, which knows how events are shown.
public struct DeliverySending: Sendable {
    /// The server's release, for `User-Agent`.
    public var version: String
    /// Makes an event as a webhook is sent it, from its record and the data of the row that holds the record.
    /// Called on the dispatcher's thread.
    public var event: @Sendable (_ event: LogRecord, _ data: [UInt8], WebhookConfiguration) -> WebhookEvent

    /// Makes a value of these parts; see the members.
    public init(
        version: String,
        event: @escaping @Sendable (_ event: LogRecord, _ data: [UInt8], WebhookConfiguration) -> WebhookEvent
    ) {
        self.version = version
        self.event = event
    }
}
