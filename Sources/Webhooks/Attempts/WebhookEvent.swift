/// An event on its way to a receiver: the parts of a delivery that are the same for every attempt.
public struct WebhookEvent: Sendable, Equatable {
    /// The delivery's id, the same for every attempt: `webhook-id`. Printable ASCII without a dot.
    public var id: String
    /// The event's type, such as `fired`.
    public var type: String
    /// The whole event as JSON.
    public var json: [UInt8]
    /// The timer's payload as JSON; nil for none, which goes out as `null`.
    public var payload: [UInt8]?
    /// The event's data for headers, a name and a text each: `("scheduledAt", "2026-11-21T09:00:00.000Z")`.
    public var data: [(name: String, value: String)]
    /// The `source` of CloudEvents, a URI reference: `/timerd`.
    public var source: String
    /// The `subject` of CloudEvents: the timer's id.
    public var subject: String
    /// The instant of the event, in milliseconds since 1970.
    public var timeMs: Int64

    /// Makes an event; the members say what each part is.
    public init(
        id: String, type: String, json: [UInt8], payload: [UInt8]?, data: [(name: String, value: String)],
        source: String, subject: String, timeMs: Int64
    ) {
        self.id = id
        self.type = type
        self.json = json
        self.payload = payload
        self.data = data
        self.source = source
        self.subject = subject
        self.timeMs = timeMs
    }

    /// Whether all members are the same.
    public static func == (left: WebhookEvent, right: WebhookEvent) -> Bool {
        left.id == right.id && left.type == right.type && left.json == right.json && left.payload == right.payload
            && left.data.elementsEqual(right.data, by: ==) && left.source == right.source
            && left.subject == right.subject && left.timeMs == right.timeMs
    }
}
