public import HTTPServer
public import TimerService

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
