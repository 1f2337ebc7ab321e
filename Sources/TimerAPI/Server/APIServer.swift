public import HTTPServer
public import TLS
public import TimerService

/// The HTTP API of a `TimerService`. The server listens before the service exists, and answers until then that it is
/// recovering.
public final class APIServer: Sendable {
    private let server: HTTPServer
    private let configuration: APIConfiguration

    /// Binds the listeners.
    ///
    /// - Parameter recovery: the heartbeat of the service's recovery.
    /// - Throws: when the server can't listen on one of them.
    public init(_ configuration: APIConfiguration, recovery: Heartbeat) throws(ListenError) {
        var server = ServerConfiguration(listeners: configuration.listeners, loops: configuration.ioThreads)
        server.passedSockets = configuration.passedSockets
        server.tls = configuration.tls
        server.guests = configuration.guests
        server.limits.streams = configuration.maximumStreams
        server.limits.streamKeepAliveSeconds = Int(clamping: (configuration.heartbeatMilliseconds + 999) / 1000)
        server.limits.idleSeconds = Int(clamping: (configuration.idleMilliseconds + 999) / 1000)
        server.limits.connections =
            configuration.maximumConnections ?? configuration.maximumStreams + Self.connectionsBesideStreams
        server.limits.connectionsPerAddress = configuration.maximumConnectionsPerAddress ?? .max
        self.server = try HTTPServer(server) { _ in RecoveringHandler(recovery, configuration) }
        self.configuration = configuration
    }

    /// The number of connections that there is room for besides the maximum of streams.
    public static let connectionsBesideStreams = 2048

    /// The addresses that the server listens on, with their real ports.
    public var boundAddresses: [BoundAddress] { server.boundAddresses }

    /// Begins to accept connections. Health checks are answered; other requests are refused until `serve`.
    public func start() { server.start() }

    /// Serves `service` from now on. Call once, after `start`.
    ///
    /// - Parameter desks: make the desks for what another server answers; nil where this server forwards nothing.
    package func serve(_ service: TimerService, forwardingBy desks: (any RequestDesks)? = nil) {
        let context = APIContext(service, configuration, desks, server)
        server.handOver { loop in
            let handler = TimerHandler(context, loop)
            handler.forward(by: desks?.makeDesk(for: handler, on: loop))
            return handler
        }
    }

    /// Replaces the certificate and key for connections that come from now on. May be called on any thread.
    public func replaceTLS(_ context: TLSContext) { server.replaceTLS(context) }

    /// Drains the server: takes no new connections, answers running requests and ends streams. Connections left after
    /// `seconds` are cut.
    public func stop(drainSeconds seconds: Double) {
        server.beginDrain()
        server.stop(deadlineSeconds: seconds)
    }
}
