// CMicroHTTPD is imported for MSG_DONTWAIT too: constants of sockets belong to whichever of the two C modules the
// compiler loads first.
import CMicroHTTPD
import Glibc
import Platform

/// A connection's socket that was taken over from the library: the loop itself writes and watches it.
final class DetachedSocket: LoopSocket, StreamSink {
    private enum Phase {
        /// The owner writes.
        case open
        /// The owner has finished; buffered bytes are still to be written.
        case flushing
        /// Everything is written, and the socket is shut down for writing; the peer is to close.
        case lingering
        case closed
    }

    let loop: LoopCore
    let tag: UInt64
    let peer: SocketAddress?
    var owner = SinkOwner.none
    /// The socket's claim on the quota.
    private(set) var claim: SocketClaim
    /// The instant at which the socket was taken over, on the monotonic clock in nanoseconds.
    let adoptedAt: Int64
    private let descriptor: Int32
    private var phase = Phase.open
    private var buffer: [UInt8] = []
    private var written = 0
    private var watched = Epoll.Events.peerClosed
    /// Whether the peer has ended its side: it has disconnected, or only sends nothing more.
    private var hasPeerEnded = false
    /// Bytes of a parked answer's head that were written before the answer.
    private var begunBytes = 0
    private var drained = 0
    /// The instant at which the socket is closed whatever the peer does, on the monotonic clock in nanoseconds.
    /// Set once the owner has finished.
    private var deadline = Int64.max

    init(_ descriptor: Int32, loop: LoopCore, tag: UInt64, peer: SocketAddress?, _ claim: SocketClaim) {
        self.claim = claim
        adoptedAt = loop.now
        self.descriptor = descriptor
        self.loop = loop
        self.tag = tag
        self.peer = peer
        set(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    }

    /// Bytes not yet handed to the kernel.
    var bufferedBytes: Int { buffer.count - written }

    var isClosed: Bool { phase == .closed }

    var isStream: Bool { claim.kind == .stream }

    /// Stops counting the socket for its address: see `SocketQuota.stopCounting`.
    func stopCounting() -> Bool { loop.quota.stopCounting(&claim) }

    /// Whether the owner may still write: it has not finished, and the socket is not closed.
    var isOpen: Bool { phase == .open }

    /// Begins to watch the socket. Returns false where the kernel can't; the socket is of no use then.
    func watch() -> Bool { loop.epoll.add(descriptor, watched, tag: tag) == 0 }

    /// Counts the socket as a stream from now on. The kernel then probes a silent peer, and buffers only a little
    /// more than it can send.
    func becomeStream() {
        claim.kind = .stream
        loop.quota.connectionBecameStream()
        let seconds = Int32(clamping: max(1, loop.limits.streamKeepAliveSeconds))
        set(SOL_SOCKET, SO_KEEPALIVE, 1)
        set(Int32(IPPROTO_TCP), TCP_KEEPIDLE, seconds)
        set(Int32(IPPROTO_TCP), TCP_KEEPINTVL, max(1, seconds / Self.keepAliveProbes))
        set(Int32(IPPROTO_TCP), TCP_KEEPCNT, Self.keepAliveProbes)
        set(Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, Self.unsentBytes)
    }

    /// Probes without an answer after which the kernel closes the connection.
    private static let keepAliveProbes: Int32 = 3
    /// Bytes of a stream that the kernel buffers beyond those it has sent: without a bound it takes megabytes for a
    /// peer that does not read.
    private static let unsentBytes: Int32 = 128 * 1024

    private func set(_ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        // A Unix socket has none of these options, and needs none.
        unsafe setsockopt(descriptor, level, option, &value, 4)
    }

    /// Whether the peer has acknowledged nothing for `milliseconds`, though the kernel sends again and again.
    func isUnacknowledged(milliseconds: Int64) -> Bool {
        var info = tcp_info()
        var size = socklen_t(MemoryLayout<tcp_info>.size)
        guard unsafe getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &info, &size) == 0 else { return false }
        // A closed window always has one probe out; a peer that is there answers it before the next.
        let isRepeating = info.tcpi_retransmits > 0 || info.tcpi_probes > 1
        return isRepeating && Int64(info.tcpi_last_ack_recv) >= milliseconds
    }

    func begin(_ response: Response, isChunked: Bool) {
        let framing: ResponseHead.Framing = isChunked ? .chunked : .untilClose
        write(ResponseHead(response, framing: framing, date: loop.date()).bytes)
    }

    func send(_ response: Response, isHead: Bool) {
        let head = ResponseHead(response, framing: .length(response.body.count), date: loop.date()).bytes
        write(head, begunBytes..<head.count)
        if !isHead, !ResponseHead.isBodyless(response.status) { write(response.body) }
        finish()
    }

    /// Writes what the kernel takes and buffers the rest. After an error the socket is closed.
    func write(_ bytes: [UInt8], _ range: Range<Int>) {
        guard phase == .open, !range.isEmpty else { return }
        guard bufferedBytes == 0 else { return append(bytes[range]) }
        let count = unsafe bytes.withUnsafeBytes { bytes in
            unsafe sendSome(UnsafeRawBufferPointer(rebasing: bytes[range]))
        }
        guard count >= 0 else { return close() }
        if count < range.count { append(bytes[(range.lowerBound + count)..<range.upperBound]) }
    }

    /// Writes the buffered bytes, shuts down for writing, waits a while for the peer to close, and closes.
    ///
    /// A close at once would make the kernel answer bytes that still come with a reset, and the peer would lose
    /// what it has not read yet.
    func finish() {
        guard phase == .open else { return }
        phase = .flushing
        deadline = loop.now + Int64(loop.limits.responseSeconds) * 1_000_000_000
        loop.noteEnding(self)
        bufferedBytes == 0 ? linger() : watch(for: .writable)
    }

    /// Closes the socket at once.
    func close() {
        guard phase != .closed else { return }
        phase = .closed
        buffer = []
        written = 0
        loop.epoll.remove(descriptor)
        Glibc.close(descriptor)
        loop.socketClosed(self)
    }

    /// Closes the socket if its deadline has passed.
    func checkDeadline() {
        if loop.now >= deadline { close() }
    }

    // MARK: From the loop

    func happened(_ events: Epoll.Events) {
        switch phase {
        case .open where !events.isDisjoint(with: [.hungUp, .failed]): close()
        case .open where events.contains(.peerClosed): peerEnded()
        case .flushing where !events.isDisjoint(with: [.hungUp, .failed]): close()
        case .open, .flushing: if events.contains(.writable) { flush() }
        case .lingering: drain()
        case .closed: break
        }
    }

    /// Finds out whether a peer that has ended its side still reads. The FIN of a peer that only ended its side
    /// (`nc -N`) is the same as that of a disconnected one, whose kernel answers further bytes with a reset. So
    /// bytes are written at once that mean nothing to a reader: a stream's filler, or the first bytes of a parked
    /// answer, which every answer has.
    private func peerEnded() {
        hasPeerEnded = true
        watch(for: bufferedBytes > 0 ? .writable : [])
        switch owner {
        case .stream(let stream): stream.sendFiller()
        case .parked where begunBytes == 0:
            begunBytes = ResponseHead.opening.count
            write(ResponseHead.opening)
        case .parked, .none: break
        }
    }

    private func flush() {
        let count = unsafe buffer.withUnsafeBytes { bytes in
            unsafe sendSome(UnsafeRawBufferPointer(rebasing: bytes[written...]))
        }
        guard count >= 0 else { return close() }
        written += count
        guard bufferedBytes == 0 else { return }
        buffer = []
        written = 0
        if phase == .flushing { return linger() }
        watch(for: hasPeerEnded ? [] : .peerClosed)
        if case .stream(let stream) = owner { stream.producer?.streamWritable() }
    }

    private func linger() {
        phase = .lingering
        deadline = loop.now + Int64(loop.limits.lingerSeconds) * 1_000_000_000
        // Places for health checks are too few to wait for their peers.
        guard claim.kind != .reserved, shutdown(descriptor, Int32(SHUT_WR)) == 0 else { return close() }
        watch(for: [.readable, .peerClosed])
    }

    private func drain() {
        unsafe withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 16) { bytes in
            let count = unsafe recv(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT))
            if count > 0 { drained += count }
            let isDone = count == 0 || count < 0 && errno != EAGAIN && errno != EINTR
            if isDone || drained > loop.limits.drainBodyBytes { close() }
        }
    }

    private func append(_ bytes: ArraySlice<UInt8>) {
        // Bytes that were written are removed before the array grows.
        if written > 0 {
            buffer.removeSubrange(..<written)
            written = 0
        }
        buffer.append(contentsOf: bytes)
        watch(for: phase == .open && !hasPeerEnded ? [.writable, .peerClosed] : .writable)
        if isStream, bufferedBytes > loop.limits.streamBufferBytes * Self.overrun { close() }
    }

    /// A stream whose sender goes on in spite of a full buffer is closed at this many times the limit.
    private static let overrun = 8

    private func watch(for events: Epoll.Events) {
        guard events != watched else { return }
        watched = events
        loop.epoll.modify(descriptor, events, tag: tag)
    }

    /// Returns how many bytes the kernel took, or −1 when the connection is broken.
    private func sendSome(_ bytes: UnsafeRawBufferPointer) -> Int {
        let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
        let count = unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, flags)
        return count >= 0 ? count : errno == EAGAIN || errno == EINTR ? 0 : -1
    }
}
