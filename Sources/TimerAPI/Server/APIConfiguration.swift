public import HTTPServer
public import Platform

/// How the HTTP face of the service behaves.
public struct APIConfiguration: Sendable {
    /// Where it listens.
    public var listeners: [ListenAddress]
    /// Most streams and long polls at once.
    public var maximumStreams = 10_000
    /// Most connections and streams at once; nil: room for some connections beside the streams.
    public var maximumConnections: Int?
    /// Most of one address; nil: as many as there are.
    public var maximumConnectionsPerAddress: Int?
    /// Milliseconds between two signs of life on a stream.
    public var heartbeatMilliseconds: Int64 = 15_000
    /// What can change while it serves.
    public let access: Published<AccessSettings>
    /// Names that `Host` may have where it is checked, beside addresses and names without a dot.
    public var allowedHosts: [HostRule] = []
    /// The release, for `/v1/stats`.
    public var version = ""
    /// Hears of each request answered, while `AccessSettings.logsRequests`.
    public var accessLog: (@Sendable (AccessRecord) -> Void)?

    /// Every default.
    public init(listeners: [ListenAddress], access: Published<AccessSettings> = Published(AccessSettings())) {
        self.listeners = listeners
        self.access = access
    }
}
