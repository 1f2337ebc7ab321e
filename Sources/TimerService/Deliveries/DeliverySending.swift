public import TimerLog
public import Webhooks

/// The parts of deliveries that the API supplies, which knows how events are shown.
public struct DeliverySending: Sendable {
    /// The server's release, for `User-Agent`.
    public var version: String
    /// Makes an event as webhooks are sent it, from its record and the data of the row that holds the record.
    /// Called on the dispatcher's thread.
    public var event: @Sendable (_ event: LogRecord, _ data: [UInt8]) -> WebhookEvent

    /// Makes a value of these parts; see the members.
    public init(
        version: String, event: @escaping @Sendable (_ event: LogRecord, _ data: [UInt8]) -> WebhookEvent
    ) {
        self.version = version
        self.event = event
    }
}
