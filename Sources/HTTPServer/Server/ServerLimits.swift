/// The bounds of a server, each with what happens at it.
public struct ServerLimits: Sendable {
    /// Bytes of a request's head, request line included; above: 431.
    public var headerBytes = 8192
    /// Header lines of a request; above: 431.
    public var headerCount = 100
    /// Bytes of a request target; above: 414.
    public var targetBytes = 4096
    /// Connections and streams in all loops. Once there are as many, a new connection of an address that holds fewer
    /// than another takes the place of one of an address that holds most; further ones are answered health checks only.
    public var connections = 12_048
    /// Connections and streams of one IPv4 address or one IPv6 network of 64 bits; further ones are closed when they
    /// come. There is no such limit for Unix sockets.
    public var connectionsPerAddress = Int.max
    /// Sockets beyond `connections`: this many each for Unix sockets, for health checks, and for newcomers whose places
    /// are being cleared. Fewer where descriptors are few.
    public var reservedConnections = 64
    /// Bytes that the larger bodies under way, each above `smallBodyBytes`, may hold together; one that would exceed it
    /// is refused with 503.
    public var bodyBytes = 96 << 20
    /// A body of at most this many bytes is not counted.
    public var smallBodyBytes = 16 * 1024
    /// Bytes that the larger answers under way, each above `smallAnswerBytes`, may hold together: see
    /// `Exchange.reserveAnswer`.
    public var answerBytes = 256 << 20
    /// An answer of at most this many bytes is not counted.
    public var smallAnswerBytes = 16 * 1024
    /// Seconds that a new TCP connection may stay without a byte; then it is closed.
    public var firstByteSeconds = 5
    /// Seconds that a connection may stay without a request after its last one; then it is closed. Longer than the
    /// 60 s after which the usual load balancers close theirs: whichever closes first must not be the one that is
    /// sent a request.
    public var idleSeconds = 75
    /// Seconds for a whole request, to its last byte; then the connection is closed. The first request counts from
    /// the connection's start, a later one from its first bytes, which are noticed up to five seconds after they
    /// came. On a Unix socket a later request counts from the end of its first line.
    public var requestSeconds = 30
    /// Seconds a client may take to read an answer; then the connection is closed.
    public var responseSeconds = 60
    /// Detached streams and parked answers in all loops; above, detaching is refused.
    public var streams = 10_000
    /// Bytes a stream may buffer before its sender should pause. At eight times as much the stream is closed.
    public var streamBufferBytes = 64 * 1024
    /// Seconds without a byte after which the kernel asks whether a stream's peer is still there. After as long again
    /// without an answer the stream is closed.
    public var streamKeepAliveSeconds = 15
    /// Bytes of a refused body that are read, so that the client sees the refusal; a longer body is cut off.
    public var drainBodyBytes = 1024 * 1024
    /// Seconds that a socket stays open for its peer to close first, after the last byte was sent.
    public var lingerSeconds = 1
    /// Descriptors left to the rest of the process.
    public var reservedDescriptors = 256

    /// The defaults.
    public init() {}
}
