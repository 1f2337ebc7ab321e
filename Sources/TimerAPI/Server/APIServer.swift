public import HTTPServer
public import Platform
public import TimerService

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

/// The HTTP face of a `TimerService`: it listens before there is one, and says so.
public final class APIServer: Sendable {
    private let server: HTTPServer
    private let configuration: APIConfiguration

    /// Binds the listeners.
    ///
    /// - Parameter recovery: beats while the service is made.
    /// - Throws: when one can't be listened on.
    public init(_ configuration: APIConfiguration, recovery: Heartbeat) throws(ListenError) {
        var server = ServerConfiguration(listeners: configuration.listeners)
        server.limits.streams = configuration.maximumStreams
        server.limits.streamKeepAliveSeconds = Int(clamping: (configuration.heartbeatMilliseconds + 999) / 1000)
        server.limits.connections =
            configuration.maximumConnections ?? configuration.maximumStreams + Self.connectionsBesideStreams
        server.limits.connectionsPerAddress = configuration.maximumConnectionsPerAddress ?? .max
        self.server = try HTTPServer(server) { _ in RecoveringHandler(recovery, configuration) }
        self.configuration = configuration
    }

    /// Connections that there is room for beside as many streams as may be.
    public static let connectionsBesideStreams = 2048

    /// What is listened on, with real ports.
    public var boundAddresses: [BoundAddress] { server.boundAddresses }

    /// Begins to accept connections: health is answered, all else refused as not there yet.
    public func start() { server.start() }

    /// Serves `service` from now on. Call once, after `start`.
    public func serve(_ service: TimerService) {
        let context = APIContext(service, configuration, server)
        server.handOver { loop in TimerHandler(context, loop) }
    }

    /// Drains: no new connections, running requests answered, streams ended; after `seconds` what is left is cut.
    public func stop(drainSeconds seconds: Double) {
        server.beginDrain()
        server.stop(deadlineSeconds: seconds)
    }
}
