import Platform
public import TLS

/// The configuration of a server: its addresses, threads and bounds.
public struct ServerConfiguration: Sendable {
    /// The addresses at which the server listens.
    public var listeners: [ListenAddress]
    /// Listening sockets, TCP or Unix, that another process opened. The server takes them over, and they come before
    /// `listeners`. The file of a Unix socket is left to whoever made it.
    public var passedSockets: [PassedSocket] = []
    /// The address at which the server takes requests that other servers forward; nil for none.
    package var guests: (any LoopGuests)?
    /// The certificate and key of the listeners that are secure; needed where there are any. `HTTPServer.replaceTLS`
    /// replaces it.
    public var tls: TLSContext?
    /// The server's bounds.
    public var limits: ServerLimits
    private let wantedLoops: Int?

    /// A server that listens at `listeners`.
    ///
    /// - Parameter loops: the number of I/O threads, at least 1; nil for the processors that the process may use, of which one
    ///   is left to other threads unless the loops also encrypt.
    public init(listeners: [ListenAddress], loops: Int? = nil, limits: ServerLimits = ServerLimits()) {
        self.listeners = listeners
        wantedLoops = loops
        self.limits = limits
    }

    /// Whether any listener speaks TLS.
    var isSecure: Bool { listeners.contains(where: \.isSecure) || passedSockets.contains(where: \.isSecure) }

    /// The number of I/O threads, at least 1.
    public var loops: Int { max(1, wantedLoops ?? Processors.usable() - (isSecure ? 0 : 1)) }
}

/// A listening socket that another process opened.
public struct PassedSocket: Sendable, Equatable {
    /// The socket's descriptor.
    public let descriptor: Int32
    /// Whether clients speak TLS; then it must be a TCP socket.
    public let isSecure: Bool

    /// Names a socket.
    public init(descriptor: Int32, isSecure: Bool = false) {
        self.descriptor = descriptor
        self.isSecure = isSecure
    }
}
