/// A request and its answer. A connection has one object, which serves its requests one after another. Confined to its
/// loop.
public final class Exchange {
    /// How far the request has come.
    enum Stage {
        /// No request is under way.
        case idle
        /// The request line is here; the head follows.
        case head
        /// Accepted; the body follows.
        case body
        /// Refused; the rest of the body is read and dropped, then the answer is sent.
        case discarding
        /// With the handler, which owes an answer.
        case owed
        /// The library writes the answer.
        case sending
        /// The socket was taken over; the library is to drop the connection.
        case left
        /// To be dropped without an answer.
        case broken
    }

    /// The request's method.
    public internal(set) var method = HTTPMethod.get
    /// The method's name where `method` is `other`; else empty.
    public internal(set) var methodText: [UInt8] = []
    /// Path and query as they came, undecoded: visible ASCII that begins with `/`, or `*` (only OPTIONS).
    public internal(set) var target: [UInt8] = []
    /// False for HTTP/1.0.
    public internal(set) var isHTTP11 = true
    /// The header lines.
    public internal(set) var headers = RequestHeaders()
    /// The body; complete in `LoopHandler.handle`.
    public internal(set) var body: [UInt8] = []
    /// When the loop saw the request line, on the monotonic clock, in nanoseconds.
    public internal(set) var startedAt: Int64 = 0
    /// The answer; fill it before it is sent.
    public var response = Response()
    /// For the handler's use; kept as long as the connection.
    public var context: AnyObject?
    /// The place of the listener in the configuration.
    public let listenerIndex: Int
    /// True where the listener is reached from this machine only.
    public let listenerIsLoopback: Bool

    let loop: LoopCore
    let peer: SocketAddress?
    var connection: LibraryConnection?
    /// The way of the answer where another server has forwarded the request; else nil.
    package var channel: (any AnswerChannel)?
    /// Its index in the loop's connections.
    var place = 0
    /// The instant that the stage's time limit counts from.
    package var since: Int64
    private(set) var stage = Stage.idle
    /// Changes with each request, so that an answer to an earlier one is recognised.
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
    /// What the connection counts as; nil once its detached socket counts instead.
    var claim: SocketClaim?
    /// Whether it came beyond the ordinary number of connections: only health checks are answered on it.
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
        peer = connection.peer
        claim = SocketClaim(owner: peer?.owner, kind: kind)
        isFromReserve = kind == .reserved
        isFromPeer = false
        acceptedAt = loop.now
        since = loop.now
    }

    /// One for the requests that other servers forward, one after the other.
    package init(loop: LoopCore, forwardedBy peer: SocketAddress?) {
        self.loop = loop
        self.peer = peer
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

    /// True once the server drains: no stream may begin and no answer be parked.
    public var serverIsDraining: Bool { loop.isDraining }

    /// Whether the client has ended its side of the connection: it has gone, or sends nothing more. Asks the kernel.
    public var clientHasEnded: Bool { channel == nil && connection?.isAtEnd ?? true }

    /// `127.0.0.1:5000`, `[::1]:5000` or `unix`. Built by each call.
    public var peerDescription: String {
        peer?.description ?? "unix"
    }

    func enter(_ stage: Stage) {
        loop.noteStage(from: self.stage, to: stage, isFromPeer: isFromPeer)
        self.stage = stage
        since = loop.now
    }

    /// Whether a new connection that is late with its first request has sent a part of it: then it has more time.
    func beginsLate() -> Bool {
        guard stage == .idle, !hasRequested, !hasBegun else { return false }
        hasBegun = connection.map { $0.bytesReceived ?? 1 > 0 } ?? false
        return hasBegun
    }

    // MARK: The beginning of a further request

    // The library tells of a request once its line is complete. That a part of it has come shows in the bytes that the
    // kernel has received beyond those of the requests so far.

    /// Counts bytes of a request that the library has read.
    func count(requestBytes bytes: Int) { requestBytes = requestBytes.map { $0 + UInt64(bytes) } }

    /// Notes that the library has read bytes of a request which it does not hand on, the framing of chunks.
    func loseCount() { requestBytes = nil }

    /// Looks whether a part of a further request has come to a kept connection: from now on the time limit of a request
    /// holds. An empty line before a request counts as a part of it.
    func lookForBeginning() {
        guard stage == .idle, hasRequested, !hasBegun, let requestBytes, let connection else { return }
        guard let received = connection.bytesReceived, received > requestBytes else { return }
        hasBegun = true
        since = loop.now
    }

    /// Counts again where the count was lost, as the whole request was read. Before the answer is sent: what comes later
    /// belongs to the next request.
    func countAgain() {
        if requestBytes == nil || hasBegun { requestBytes = connection?.bytesReceived }
    }

    /// Notes that the next byte begins a further request.
    func awaitBeginning() { hasBegun = false }

    /// See `SocketQuota.giveUp`.
    func giveUp() -> Bool {
        guard var claim, loop.quota.giveUp(&claim) else { return false }
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

    /// Drops the body, and gives its memory back where it is large.
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

    /// Gives back what was reserved beyond `bytes`.
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

    /// True when the answer to the request `serial` is still to be sent.
    func owes(_ serial: UInt64) -> Bool {
        stage == .owed && self.serial == serial
    }

    /// Makes earlier `Answer`s to this request void, and returns the serial for the one that replaces them.
    func renewSerial() -> UInt64 {
        serial += 1
        return serial
    }
}
