public import HTTPServer
public import Platform
public import TLS

/// The settings of the service's HTTP API.
public struct APIConfiguration: Sendable {
    /// The addresses that the server listens on, besides `passedSockets`.
    public var listeners: [ListenAddress]
    /// Listening sockets that were opened by another process; the server takes them over.
    public var passedSockets: [PassedSocket] = []
    /// The certificate and key of the listeners with TLS; needed where there are any.
    public var tls: TLSContext?
    /// The connections with other servers, which the loops run beside those of their clients.
    package var guests: (any LoopGuests)?
    /// The tokens by which servers authenticate to each other: the first is sent, each is accepted.
    public var peerTokens: [[UInt8]] = []
    /// The number of I/O threads; nil for the default of `ServerConfiguration`.
    public var ioThreads: Int?
    /// The most streams and long polls at once.
    public var maximumStreams = 10_000
    /// The most connections and streams at once; nil for the streams and `APIServer.connectionsBesideStreams`.
    public var maximumConnections: Int?
    /// The most connections and streams of one address; nil for no limit.
    public var maximumConnectionsPerAddress: Int?
    /// Milliseconds that a kept connection may stay without a request, rounded up to a second.
    public var idleMilliseconds: Int64 = 75_000
    /// Milliseconds between two heartbeats on a stream.
    public var heartbeatMilliseconds: Int64 = 15_000
    /// Nanoseconds between two commits of a loop that is busy without a pause: most batches are carried out in less, and need a
    /// single append.
    package var commitInterval: Int64 = 20_000_000
    /// The settings that can change while the server runs.
    public let access: Published<AccessSettings>
    /// The names that `Host` may have where it is checked, besides addresses and names without a dot.
    public var allowedHosts: [HostRule] = []
    /// The release, for `/v1/stats`.
    public var version = ""
    /// Called with a name that `Host` may not have, for which a request was refused: at most once a minute for each
    /// name, and for at most `RefusedHosts.mostNames` names within a minute. Called on any thread.
    public var hostRefused: (@Sendable (String) -> Void)?
    /// Called for each request answered, while `AccessSettings.logsRequests`.
    public var accessLog: (@Sendable (AccessRecord) -> Void)?
    /// The audit log; nil for none.
    public var audit: AuditTrail?

    /// Makes a configuration with every default.
    public init(listeners: [ListenAddress], access: Published<AccessSettings> = Published(AccessSettings())) {
        self.listeners = listeners
        self.access = access
    }
}

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
