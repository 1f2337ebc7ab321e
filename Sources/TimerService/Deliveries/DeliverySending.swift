public import TimerLog
public import Webhooks

/// What deliveries need of the API, which knows how events are shown.
public struct DeliverySending: Sendable {
    /// The release, for `User-Agent`.
    public var version: String
    /// An event as webhooks are sent it: its record, and the data of the row that holds it. Called on the dispatcher's
    /// thread.
    public var event: @Sendable (_ event: LogRecord, _ data: [UInt8]) -> WebhookEvent

    /// Makes one; see the members.
    public init(
        version: String, event: @escaping @Sendable (_ event: LogRecord, _ data: [UInt8]) -> WebhookEvent
    ) {
        self.version = version
        self.event = event
    }
}
