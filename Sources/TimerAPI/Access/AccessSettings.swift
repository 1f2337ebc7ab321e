/// What of the API's configuration can change while it serves: a request begins with one and keeps it.
public struct AccessSettings: Sendable {
    /// Bearer tokens, any of which opens the API; none: open to all.
    public var tokens: [[UInt8]] = []
    /// Whether the access log hears of requests.
    public var logsRequests = false

    /// Every default.
    public init() {}
}
