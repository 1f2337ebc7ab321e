import Glibc

/// Where a server listens, its threads and its bounds.
public struct ServerConfiguration: Sendable {
    /// Where it listens.
    public var listeners: [ListenAddress]
    /// Descriptors of listening sockets that another process opened, TCP or Unix; the server takes them over, and they come
    /// before `listeners`. A socket's file is left to whoever made it.
    public var passedSockets: [Int32] = []
    /// The maker of what its loops run beside their clients' connections.
    package var guests: (any LoopGuests)?
    /// I/O threads, at least 1; one fewer than cores by default.
    public var loops: Int
    /// Its bounds.
    public var limits: ServerLimits

    /// A server that listens at `listeners`.
    public init(listeners: [ListenAddress], loops: Int? = nil, limits: ServerLimits = ServerLimits()) {
        self.listeners = listeners
        self.loops = max(1, loops ?? Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))) - 1)
        self.limits = limits
    }
}
