public import HTTPServer
public import Platform

/// How the HTTP face of the service behaves.
public struct APIConfiguration: Sendable {
    /// Where it listens, beside `passedSockets`.
    public var listeners: [ListenAddress]
    /// Listening sockets that were opened by another process; the server takes them over.
    public var passedSockets: [Int32] = []
    /// What its loops run beside their clients' connections: the connections with other servers.
    package var guests: (any LoopGuests)?
    /// What other servers prove to this one: each is accepted.
    public var peerTokens: [[UInt8]] = []
    /// Most streams and long polls at once.
    public var maximumStreams = 10_000
    /// Most connections and streams at once; nil for the streams and `APIServer.connectionsBesideStreams`.
    public var maximumConnections: Int?
    /// Most connections and streams of one address; nil for no limit.
    public var maximumConnectionsPerAddress: Int?
    /// Milliseconds that a kept connection may stay without a request, rounded up to a second.
    public var idleMilliseconds: Int64 = 75_000
    /// Milliseconds between two heartbeats on a stream.
    public var heartbeatMilliseconds: Int64 = 15_000
    /// The settings that can change while it serves.
    public let access: Published<AccessSettings>
    /// Names that `Host` may have where it is checked, beside addresses and names without a dot.
    public var allowedHosts: [HostRule] = []
    /// The release, for `/v1/stats`.
    public var version = ""
    /// Called with a name that `Host` may not have, for which a request was refused: once a minute for a name, and for so many
    /// names within a minute. Any thread.
    public var hostRefused: (@Sendable (String) -> Void)?
    /// Called for each request answered, while `AccessSettings.logsRequests`.
    public var accessLog: (@Sendable (AccessRecord) -> Void)?

    /// Every default.
    public init(listeners: [ListenAddress], access: Published<AccessSettings> = Published(AccessSettings())) {
        self.listeners = listeners
        self.access = access
    }
}
