/// The part of the API's configuration that can change while the server runs. A request keeps the
/// settings it began with.
public struct AccessSettings: Sendable {
    /// The bearer tokens, any of which opens the API; if there are none, the API is open to every client.
    public var tokens: [[UInt8]] = []
    /// Whether requests are written to the access log.
    public var logsRequests = false

    /// Makes settings with every default.
    public init() {}
}
