import Webhooks

/// Decoded webhooks by their bytes: many timers have the same.
struct WebhookCache {
    private var webhooks: [[UInt8]: WebhookConfiguration] = [:]

    /// The most webhooks that are kept; beyond that all are dropped.
    private static let kept = 1024

    /// Returns the webhook that `bytes` encode; nil where they can't be read.
    mutating func webhook(_ bytes: [UInt8]) -> WebhookConfiguration? {
        if let known = webhooks[bytes] { return known }
        guard let read = WebhookConfiguration(bytes.span) else { return nil }
        if webhooks.count >= Self.kept { webhooks.removeAll(keepingCapacity: true) }
        webhooks[bytes] = read
        return read
    }
}
