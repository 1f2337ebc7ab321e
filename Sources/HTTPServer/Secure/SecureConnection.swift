// CMicroHTTPD is imported for MSG_DONTWAIT too: constants of sockets belong to whichever of the two C modules the
// compiler loads first.
import CMicroHTTPD
import Glibc
import Platform
import TLS

/// A connection with TLS, from its accept to its end: first its handshake, then the way of its bytes between the client
/// and the library, which has one end of a pair of sockets and knows no TLS. Confined to its loop.
final class SecureConnection: LoopSocket {
    enum Phase {
        /// The first message has not come; there is no session.
        case waiting
        case handshake
        /// The handshake is done, and no byte of a request has come.
        case ready
        /// The library serves the connection.
        case served
        /// A detached socket has the connection, or it is closed.
        case over
    }

    let tag: UInt64
    let peer: SocketAddress
    /// The instant at which the connection came, on the monotonic clock in nanoseconds.
    let startedAt: Int64
    /// The claim on the quota, unless the exchange or the detached socket has it.
    private(set) var claim: SocketClaim?
    private(set) var phase = Phase.waiting
    let socket: Int32
    private(set) var session: TLSSession?
    let sockets: SecureSockets
    unowned let loop: LoopCore
    private let daemon: LibraryDaemon
    /// The instant from which the first byte of a request is awaited.
    private var readyAt = Int64.max
    /// Whether a byte of the handshake has come.
    private var hasBegun = false
    /// Whether the client has ended its side during the handshake.
    private var hasPeerEnded = false
    /// Whether the connection is in the queue of handshakes.
    private var isQueued = false
    private var watched: Epoll.Events = [.readable, .peerClosed, .edge]
    /// This end of the pair, or −1.
    private(set) var pair: Int32 = -1
    private var pairWatched = Epoll.Events.readable

    // The bytes on their way, as SecureConnection+Bytes carries them.

    /// Bytes of requests so far.
    var bytesReceived: UInt64 = 0
    /// Bytes that the client sent and the library has no room for: one record at most.
    var received: [UInt8] = []
    /// Whether the client sends nothing more.
    var isEnded = false
    /// Whether reading has to wait until TLS can send a message of its own.
    var readNeedsRoom = false
    /// Whether nothing can be sent any more; the socket is not watched then.
    var isBroken = false
    /// Bytes that the library wrote and the client has not taken, and the instant since which there are any.
    var unsent: [UInt8] = []
    var blockedSince = Int64.max

    /// Distinguishes the tag of the pair's end from that of the socket.
    static let pairMark: UInt64 = 1 << 62
    /// The descriptors of a connection that the library serves: its socket and the pair.
    static let descriptors = 3

    init(
        _ socket: Int32, in sockets: SecureSockets, loop: LoopCore, tag: UInt64, peer: SocketAddress,
        _ claim: SocketClaim, for daemon: LibraryDaemon
    ) {
        self.socket = socket
        self.sockets = sockets
        self.loop = loop
        self.tag = tag
        self.peer = peer
        self.claim = claim
        self.daemon = daemon
        startedAt = loop.now
        var on: Int32 = 1
        unsafe setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, 4)
    }

    /// Begins to watch the socket. Returns false where the kernel can't.
    func watch() -> Bool { loop.epoll.add(socket, watched, tag: tag) == 0 }

    /// Whether no byte of a request has come.
    var isBeginning: Bool { phase == .waiting || phase == .handshake || phase == .ready }

    /// Whether the library has written something that the client has not taken.
    var hasUnsent: Bool { !unsent.isEmpty }

    /// Whether the client has taken longer for the present phase than it may.
    var isLate: Bool {
        let limits = loop.limits
        let (since, seconds) =
            switch phase {
            case .waiting where !hasBegun: (startedAt, limits.firstByteSeconds)
            case .waiting, .handshake: (startedAt, limits.requestSeconds)
            case .ready: (readyAt, limits.firstByteSeconds)
            case .served where hasUnsent: (blockedSince, limits.responseSeconds)
            case .served, .over: (loop.now, 0)
            }
        return loop.now - since > Int64(seconds) * 1_000_000_000
    }

    // MARK: Counting

    /// The claim, for the exchange that has it from now on.
    func takeClaim() -> SocketClaim? {
        defer { claim = nil }
        return claim
    }

    /// Stops counting the connection for its address: see `SocketQuota.stopCounting`.
    func stopCounting() -> Bool {
        guard var claim, loop.quota.stopCounting(&claim) else { return false }
        self.claim = claim
        return true
    }

    /// Takes the claim of the exchange, which is over, back: nil where a detached socket has it.
    func exchangeEnded(_ claim: SocketClaim?) {
        guard let claim else { return }
        if phase == .over { loop.quota.went(claim) } else { self.claim = claim }
    }

    // MARK: From the loop

    func happened(_ events: Epoll.Events) {
        switch phase {
        case .waiting, .handshake:
            if events.contains(.peerClosed) { hasPeerEnded = true }
            if !isQueued { sockets.enqueue(self) }
            isQueued = true
        case .ready, .served:
            if events.contains(.writable) { roomCame() }
            if events.contains(.readable) { receive() }
            // Where nothing is read the kernel would report the failure again and again.
            if !events.isDisjoint(with: [.hungUp, .failed]), !watched.contains(.readable) { noteBroken() }
        case .over: break
        }
    }

    // MARK: The handshake

    /// Goes on with the handshake, which has come to its turn. One that is late is dropped unread.
    func shakeHands() {
        isQueued = false
        guard phase == .waiting || phase == .handshake else { return }
        guard !isLate else { return close() }
        guard let session = session ?? begin() else { return }
        switch session.handshake() {
        case .done: becomeReady()
        case .wantsReading: break
        case .wantsWriting: watch(for: [.readable, .writable, .peerClosed, .edge])
        case .ended, .failed: close()
        }
    }

    /// Makes the session, once the first message has come and can be one.
    private func begin() -> TLSSession? {
        var head = [UInt8](repeating: 0, count: ClientHello.headBytes)
        let count = unsafe head.withUnsafeMutableBytes { bytes in
            unsafe recv(socket, bytes.baseAddress, bytes.count, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        }
        if count < 0, errno == EAGAIN || errno == EINTR { return nil }
        hasBegun = count > 0
        switch ClientHello.judge(head.prefix(max(0, count))) {
        case .incomplete where count > 0 && !hasPeerEnded: return nil
        case .incomplete, .refused: break
        case .fits: session = sockets.makeSession(on: socket)
        }
        if session == nil { close() } else { phase = .handshake }
        return session
    }

    private func becomeReady() {
        phase = .ready
        readyAt = loop.now
        watch(for: .readable)
        // A request may have come with the end of the handshake.
        receive()
    }

    /// The first bytes of a request have come: makes the pair, and gives one end to the library. Returns false where the
    /// connection had to be closed.
    func serve() -> Bool {
        var ends: [Int32] = [-1, -1]
        let kind = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
        guard unsafe socketpair(AF_UNIX, Int32(kind), 0, &ends) == 0 else {
            close()
            return false
        }
        phase = .served
        pair = ends[0]
        guard loop.epoll.add(pair, pairWatched, tag: tag | Self.pairMark) == 0 else {
            Glibc.close(ends[1])
            close()
            return false
        }
        guard daemon.add(ends[1], for: self) else {
            close()
            return false
        }
        return true
    }

    // MARK: The end

    /// Closes the connection at once.
    func close() {
        guard phase != .over else { return }
        if !hasUnsent, !isBroken { session?.closeNotify() }
        leave()
        closeSocket()
        if let claim = takeClaim() { loop.quota.went(claim) }
    }

    private func closeSocket() {
        loop.epoll.remove(socket)
        Glibc.close(socket)
    }

    private func leave() {
        phase = .over
        sockets.remove(self)
        if pair >= 0 {
            loop.epoll.remove(pair)
            Glibc.close(pair)
            pair = -1
        }
        received = []
        unsent = []
    }

    /// Hands socket and session over, with the bytes that are left to be sent; nil where the connection is broken, and
    /// then `claim` still counts. From here on bytes go to TLS without the library and its pair.
    func detach(_ claim: SocketClaim) -> DetachedSocket? {
        while phase == .served, readPair(upTo: .max) > 0 {}
        guard phase == .served, !isBroken else { return nil }
        let left = unsent
        leave()
        let transport = SocketTransport(descriptor: socket, session: session)
        guard let detached = loop.adopt(transport, isWatched: true, claim) else {
            closeSocket()
            return nil
        }
        if !left.isEmpty { detached.write(left) }
        return detached
    }

    /// Ends the connection whose exchange is over: sends what is left, reports that nothing follows, and waits a
    /// while for the client to close, as a reset would keep it from reading the end.
    func finish() {
        guard !isBroken, let claim = takeClaim() else { return close() }
        if let detached = detach(claim) { return detached.finish() }
        exchangeEnded(claim)
        close()
    }

    // MARK: Watching

    /// Watches each side for what there is room for on the other.
    func watchBoth() {
        guard phase == .ready || phase == .served else { return }
        var outer: Epoll.Events = hasUnsent ? .writable : []
        if received.isEmpty, !isEnded { outer.insert(readNeedsRoom ? .writable : .readable) }
        watch(for: outer)
        var inner: Epoll.Events = hasUnsent ? [] : .readable
        if !received.isEmpty { inner.insert(.writable) }
        guard pair >= 0, inner != pairWatched else { return }
        pairWatched = inner
        loop.epoll.modify(pair, inner, tag: tag | Self.pairMark)
    }

    private func watch(for events: Epoll.Events) {
        guard events != watched, !isBroken else { return }
        watched = events
        loop.epoll.modify(socket, events, tag: tag)
    }

    /// Stops watching a socket on which nothing can be sent any more.
    func becomeBroken() {
        if !isBroken { loop.epoll.remove(socket) }
        isBroken = true
    }
}
