/// The bounds of a courier, and its proxy.
public struct CourierLimits: Sendable {
    /// The most requests under way at once; further ones fail at once. As many connections are kept for later requests.
    public var transfers = 1024
    /// The most bytes of an answer's body that are read, so that its connection can be used again; a longer one is
    /// cut off.
    public var bodyLimit = 64 * 1024
    /// The most milliseconds for a connection to be made, where the request does not allow less.
    public var connectTimeoutMs = 10_000
    /// The most threads that look names up. A name server that does not answer keeps a thread until the system's
    /// lookup times out, mostly after half a minute.
    public var lookups = 32
    /// The proxy for every request, as a URL; nil for none. The environment is not asked.
    public var proxy: String?

    /// Makes the default limits.
    public init() {}
}
