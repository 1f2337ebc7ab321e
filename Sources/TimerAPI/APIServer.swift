public import HTTPServer
public import TimerService

/// How the HTTP face of the service behaves.
public struct APIConfiguration: Sendable {
    /// Where it listens.
    public var listeners: [ListenAddress]
    /// Most streams and long polls at once.
    public var maximumStreams = 10_000
    /// Milliseconds between two signs of life on a stream.
    public var heartbeatMilliseconds: Int64 = 15_000
    /// Bearer tokens, any of which opens the API; none: open to all.
    public var tokens: [[UInt8]] = []
    /// Names that `Host` may have where it is checked, beside addresses and names without a dot.
    public var allowedHosts: [HostRule] = []
    /// The release, for `/v1/stats`.
    public var version = ""
    /// Hears of each request answered, where somebody wants to.
    public var accessLog: (@Sendable (AccessRecord) -> Void)?

    /// Every default.
    public init(listeners: [ListenAddress]) { self.listeners = listeners }
}

/// One request answered, for the access log.
public struct AccessRecord: Sendable {
    /// The method.
    public var method: String
    /// Path and query as they came.
    public var target: String
    /// The status code of the answer.
    public var status: Int
    /// Bytes of the answer's body.
    public var bytes: Int
    /// Seconds from the request's head to its answer.
    public var seconds: Double
    /// Address and port of the client.
    public var peer: String
    /// The `Request-Id` of the answer.
    public var requestID: String
}

/// The HTTP face of a `TimerService`.
public final class APIServer: Sendable {
    private let server: HTTPServer
    private let context: APIContext

    /// Binds the listeners.
    ///
    /// - Throws: when one can't be listened on.
    public init(_ service: TimerService, _ configuration: APIConfiguration) throws(ListenError) {
        let context = APIContext(service, configuration)
        var server = ServerConfiguration(listeners: configuration.listeners)
        server.limits.streams = configuration.maximumStreams
        server.limits.streamKeepAliveSeconds = Int(clamping: (configuration.heartbeatMilliseconds + 999) / 1000)
        // A proxy may bring every stream from one address.
        server.limits.connectionsPerAddress = max(server.limits.connectionsPerAddress, configuration.maximumStreams)
        self.server = try HTTPServer(server) { loop in TimerHandler(context, loop) }
        self.context = context
        context.setStreamCount { [weak server = self.server] in server?.streamCount ?? 0 }
    }

    /// What is listened on, with real ports.
    public var boundAddresses: [BoundAddress] { server.boundAddresses }

    /// Begins to accept connections.
    public func start() { server.start() }

    /// Drains: no new connections, running requests answered, streams ended; after `seconds` what is left is cut.
    public func stop(drainSeconds seconds: Double) {
        context.beginDrain()
        server.beginDrain()
        server.stop(deadlineSeconds: seconds)
    }
}
