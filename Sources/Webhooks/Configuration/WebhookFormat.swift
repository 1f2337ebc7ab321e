/// The content of a delivery's body.
public enum WebhookFormat: UInt8, Sendable, CaseIterable {
    /// The event.
    case standard = 0
    /// The event within a CloudEvents 1.0 envelope.
    case cloudevents = 1
    /// The timer's payload alone.
    case payload = 2

    /// The name in JSON.
    public var name: String {
        switch self {
        case .standard: "standard"
        case .cloudevents: "cloudevents"
        case .payload: "payload"
        }
    }

    /// Finds the format of that name; nil where there is none.
    public init?(name: String) {
        guard let format = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = format
    }
}
