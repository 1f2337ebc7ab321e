/// A request and its answer. A connection has one object, which serves its requests one after another. Confined to its
/// loop.
public final class Exchange {
    /// The stage of the request.
    enum Stage {
        /// No request is under way.
        case idle
        /// The request line is here; the head follows.
        case head
        /// The request is accepted; the body follows.
        case body
        /// The request is refused; the rest of the body is read and dropped, then the answer is sent.
        case discarding
        /// The request is with the handler, which owes an answer.
        case owed
        /// The library writes the answer.
        case sending
        /// The socket was taken over; the library is to drop the connection.
        case left
        /// The connection is to be dropped without an answer.
        case broken
    }

    /// The request's method.
    public internal(set) var method = HTTPMethod.get
    /// The method's name where `method` is `other`; else empty.
    public internal(set) var methodText: [UInt8] = []
    /// Path and query as they came, undecoded: visible ASCII that begins with `/`, or `*` (only OPTIONS).
    public internal(set) var target: [UInt8] = []
    /// Whether the request is of HTTP/1.1; false for HTTP/1.0.
    public internal(set) var isHTTP11 = true
    /// The header lines.
    public internal(set) var headers = RequestHeaders()
    /// The body; complete in `LoopHandler.handle`, or empty where it is too large.
    public internal(set) var body: [UInt8] = []
    /// Whether the body has more bytes than the handler accepted.
    public internal(set) var isBodyTooLarge = false
    /// Whether a body came, be it too large.
    public var hasBody: Bool { !body.isEmpty || isBodyTooLarge }
    /// The instant at which the loop saw the request line, on the monotonic clock in nanoseconds.
    public internal(set) var startedAt: Int64 = 0
    /// The answer; fill it before it is sent.
    public var response = Response()
    /// An object of the handler's; kept as long as the connection.
    public var context: AnyObject?
    /// The index of the listener in the configuration; −1 for requests that other servers forward.
    public let listenerIndex: Int
    /// Whether the listener is reached from this machine only.
    public let listenerIsLoopback: Bool

    let loop: LoopCore
    let peer: SocketAddress?
    var connection: LibraryConnection?
    /// The connection's TLS, which the library does not know; nil for none.
    let secured: SecureConnection?
    /// The stream to which the answer goes where another server has forwarded the request; else nil.
    package var channel: (any AnswerChannel)?
    /// The index of the exchange in the loop's connections.
    var place = 0
    /// The instant that the stage's time limit counts from.
    package var since: Int64
    private(set) var stage = Stage.idle
    /// The number of the request, which changes with each, so that an answer to an earlier one is recognised.
    private(set) var serial: UInt64 = 0
    var bodyLimit = 0
    /// Bytes of the body, and of the answer, that are counted in the server's budgets.
    var bodyCounted = 0
    private var answerCounted = 0
    var discarded = 0
    /// Whether another server has forwarded the request, at the listener for those.
    public let isFromPeer: Bool
    /// Whether a request came on this connection.
    var hasRequested = false
    /// Whether the client's FIN may have come with the last bytes that were read.
    var mayHaveEnded = true
    /// The connection's claim on the quota; nil once its detached socket counts instead, and for requests that
    /// other servers forward.
    var claim: SocketClaim?
    /// Whether the connection came beyond the ordinary number: only health checks are answered on it.
    public let isFromReserve: Bool
    /// Whether a byte of the next request is known to have come, before its line was complete.
    private(set) var hasBegun = false
    /// Bytes of the connection's requests so far; nil where they are not known exactly.
    private var requestBytes: UInt64? = 0
    let acceptedAt: Int64
    var absoluteAuthority: [UInt8] = []
    var targetStart: UInt = 0
    var reply = ReplyBuffer()

    init(loop: LoopCore, daemon: LibraryDaemon, connection: LibraryConnection, _ kind: SocketClaim.Kind) {
        self.loop = loop
        self.connection = connection
        listenerIndex = daemon.listenerIndex
        listenerIsLoopback = daemon.isLoopback
        secured = daemon.arriving
        peer = connection.peer
        let claim = secured?.takeClaim() ?? SocketClaim(owner: peer?.owner, kind: kind)
        self.claim = claim
        isFromReserve = claim.kind == .reserved
        isFromPeer = false
        acceptedAt = loop.now
        since = loop.now
    }

    /// Makes an exchange for the requests that another server forwards, one after the other.
    package init(loop: LoopCore, forwardedBy peer: SocketAddress?) {
        self.loop = loop
        self.peer = peer
        secured = nil
        listenerIndex = -1
        listenerIsLoopback = false
        isFromReserve = false
        isFromPeer = true
        acceptedAt = loop.now
        since = loop.now
    }

    /// The first header line of that name, or nil.
    public func header(_ name: StaticString) -> HeaderValue? {
        headers.first(name)
    }

    /// The host and port that the request is for: those of an absolute target, else the `Host` header.
    public var authority: HeaderValue? {
        absoluteAuthority.isEmpty ? headers.first("host") : HeaderValue(absoluteAuthority[...])
    }

    /// Whether the answer has content, besides a length: not for HEAD, nor with 204 and 304.
    package var sendsContent: Bool { method != .head && !ResponseHead.isBodyless(response.status) }

    /// Whether the server drains: no stream may begin and no answer be parked.
    public var serverIsDraining: Bool { loop.isDraining }

    /// Whether the client has ended its side of the connection: it has disconnected, or sends nothing more. Asks
    /// the kernel.
    public var clientHasEnded: Bool { channel == nil && connection?.isAtEnd ?? true }

    /// The peer's address: `127.0.0.1:5000`, `[::1]:5000` or `unix`. Built by each call.
    public var peerDescription: String {
        peer?.description ?? "unix"
    }

    func enter(_ stage: Stage) {
        loop.noteStage(from: self.stage, to: stage, isFromPeer: isFromPeer)
        self.stage = stage
        since = loop.now
    }

    /// Checks whether a new connection that is late with its first request has sent a part of it; the connection
    /// then has more time.
    func beginsLate() -> Bool {
        guard stage == .idle, !hasRequested, !hasBegun else { return false }
        hasBegun = connection != nil && bytesReceived ?? 1 > 0
        return hasBegun
    }

    /// The number of bytes received from the client, without those of TLS itself; nil where the kernel does not count
    /// them.
    private var bytesReceived: UInt64? { secured?.bytesReceived ?? connection?.bytesReceived }

    /// Ends the connection in both directions; the library notices and closes its side. An answer that is written still
    /// reaches its client: by the kernel, or by the secure connection, which holds a part of it.
    func cutOff() {
        guard let secured else { connection?.shutDown(); return }
        stage == .idle && secured.hasUnsent ? secured.noteEnd() : secured.close()
    }

    // MARK: The beginning of a further request

    // The library reports a request once its line is complete. The beginning of a line shows only in the bytes
    // that the kernel has received beyond those of the requests so far.

    /// Counts bytes of a request that the library has read.
    func count(requestBytes bytes: Int) { requestBytes = requestBytes.map { $0 + UInt64(bytes) } }

    /// Notes that the library has read bytes of a request which it does not hand on, those of the framing of
    /// chunks: their number is not known.
    func markCountUnknown() { requestBytes = nil }

    /// Checks whether a part of a further request has come to a kept connection: the time limit of a request then
    /// holds from now on. An empty line before a request counts as a part of it.
    func lookForBeginning() {
        guard stage == .idle, hasRequested, !hasBegun, let requestBytes else { return }
        guard let received = bytesReceived, received > requestBytes else { return }
        hasBegun = true
        since = loop.now
    }

    /// Takes the kernel's count in place of one that was lost or may lack bytes, as the whole request was read.
    /// Called before the answer is sent: later bytes belong to the next request.
    func takeKernelCount() {
        if requestBytes == nil || hasBegun { requestBytes = bytesReceived }
    }

    /// Notes that the next byte begins a further request.
    func awaitBeginning() { hasBegun = false }

    /// Stops counting the connection for its address: see `SocketQuota.stopCounting`.
    func stopCounting() -> Bool {
        guard var claim, loop.quota.stopCounting(&claim) else { return false }
        self.claim = claim
        return true
    }

    /// Prepares for the connection's next request.
    func reset() {
        serial += 1
        enter(.idle)
        dropBody()
        reply.release()
        countAnswer(0)
    }

    /// Drops the body, and frees its memory where it is large.
    func dropBody() {
        body.removeAll(keepingCapacity: body.capacity <= Response.keptBytes)
        if bodyCounted > 0 { loop.quota.bodies.change(by: -bodyCounted, for: peer?.owner) }
        bodyCounted = 0
    }

    // MARK: The answer's bytes in the budget

    /// Counts the answer as at least `bytes` from now on, before it has them. Returns false, and changes nothing, where
    /// the answers under way hold as much as they may.
    public func reserveAnswer(_ bytes: Int) -> Bool {
        let more = bytes - answerCounted
        guard bytes > loop.limits.smallAnswerBytes, more > 0 else { return true }
        guard loop.quota.answers.take(more, for: peer?.owner) else { return false }
        answerCounted = bytes
        return true
    }

    /// Releases the bytes that were reserved beyond `bytes`.
    public func trimAnswer(to bytes: Int) {
        if bytes < answerCounted { countAnswer(bytes) }
    }

    /// Counts the answer as `bytes` from now on, however much the answers under way hold.
    func countAnswer(_ bytes: Int) {
        let counted = bytes > loop.limits.smallAnswerBytes ? bytes : 0
        guard counted != answerCounted else { return }
        loop.quota.answers.change(by: counted - answerCounted, for: peer?.owner)
        answerCounted = counted
    }

    /// Whether the answer to the request `serial` is still to be sent.
    func owes(_ serial: UInt64) -> Bool {
        stage == .owed && self.serial == serial
    }

    /// Makes earlier `Answer`s to this request void, and returns the serial for the one that replaces them.
    func renewSerial() -> UInt64 {
        serial += 1
        return serial
    }
}
