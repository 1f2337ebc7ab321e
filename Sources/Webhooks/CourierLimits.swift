/// The bounds of a courier, and its way out.
public struct CourierLimits: Sendable {
    /// Exchanges with one host (scheme, name and port) at once; further ones wait.
    public var perHost = 64
    /// Exchanges in all at once; further ones wait. A host never has more than an eighth of what is free (see
    /// `HostQueues`), so that one alone comes to `perHost` where this is nine times as much.
    public var concurrency = 1024
    /// Requests that may wait; further ones fail at once.
    public var waiting = 65_536
    /// Bytes of an answer's body that are read, so that its connection can be used again; a longer one is cut off.
    public var bodyLimit = 64 * 1024
    /// Milliseconds for a connection to be made, where the request does not allow less.
    public var connectTimeoutMs = 10_000
    /// The proxy for every request, as a URL; nil: none. The environment has no say.
    public var proxy: String?

    /// The defaults.
    public init() {}
}
