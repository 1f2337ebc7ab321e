/// The bounds of a courier, and its way out.
public struct CourierLimits: Sendable {
    /// Exchanges at once; further requests fail at once. As many connections are kept for the next exchange.
    public var exchanges = 1024
    /// Bytes of an answer's body that are read, so that its connection can be used again; a longer one is cut off.
    public var bodyLimit = 64 * 1024
    /// Milliseconds for a connection to be made, where the request does not allow less.
    public var connectTimeoutMs = 10_000
    /// Threads that look names up. Each is kept by a silent name server until the system gives up, half a minute mostly.
    public var lookups = 32
    /// The proxy for every request, as a URL; nil: none. The environment has no say.
    public var proxy: String?

    /// The defaults.
    public init() {}
}
