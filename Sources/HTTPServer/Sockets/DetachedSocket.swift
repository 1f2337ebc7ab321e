// CMicroHTTPD is imported for MSG_DONTWAIT too: constants of sockets belong to whichever of the two C modules the
// compiler loads first.
import CMicroHTTPD
import Glibc
import Platform
import TLS

/// A connection's socket that was taken over from the library: the loop itself writes and watches it, through TLS where
/// the connection has it.
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
    var owner = SinkOwner.none
    /// The socket's claim on the quota.
    private(set) var claim: SocketClaim
    /// The instant at which the socket was taken over, on the monotonic clock in nanoseconds.
    let adoptedAt: Int64
    private let transport: SocketTransport
    private var phase = Phase.open
    private var buffer: [UInt8] = []
    private var written = 0
    private var watched: Epoll.Events
    /// Whether the peer has ended its side: it has disconnected, or only sends nothing more.
    private var hasPeerEnded = false
    /// Whether reading has to wait until TLS can send a message of its own.
    private var readNeedsRoom = false
    /// Bytes of a parked answer's head that were written before the answer.
    private var begunBytes = 0
    private var drained = 0
    /// The instant at which the socket is closed whatever the peer does, on the monotonic clock in nanoseconds.
    /// Set once the owner has finished.
    private var deadline = Int64.max

    init(_ transport: SocketTransport, loop: LoopCore, tag: UInt64, _ claim: SocketClaim) {
        self.claim = claim
        self.transport = transport
        watched = transport.session == nil ? .peerClosed : .readable
        adoptedAt = loop.now
        self.loop = loop
        self.tag = tag
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

    private var descriptor: Int32 { transport.descriptor }

    /// Begins to watch the socket. Returns false where the kernel can't; the socket is of no use then.
    ///
    /// - Parameter isWatched: whether the loop watches the socket already, by another tag.
    func watch(isWatched: Bool) -> Bool {
        let problem =
            isWatched
            ? loop.epoll.modify(descriptor, watched, tag: tag) : loop.epoll.add(descriptor, watched, tag: tag)
        return problem == 0
    }

    /// The events by which an open socket shows that its peer has ended. TLS ends with bytes, and has messages of its
    /// own.
    private var awaited: Epoll.Events {
        if hasPeerEnded { return [] }
        if transport.session == nil { return .peerClosed }
        return readNeedsRoom ? .writable : .readable
    }

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
            unsafe transport.send(UnsafeRawBufferPointer(rebasing: bytes[range]))
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
        case .open where transport.session != nil: happenedSecurely(events)
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
            unsafe transport.send(UnsafeRawBufferPointer(rebasing: bytes[written...]))
        }
        guard count >= 0 else { return close() }
        written += count
        guard bufferedBytes == 0 else { return }
        buffer = []
        written = 0
        if phase == .flushing { return linger() }
        watch(for: awaited)
        if case .stream(let stream) = owner { stream.producer?.streamWritable() }
    }

    private func linger() {
        phase = .lingering
        deadline = loop.now + Int64(loop.limits.lingerSeconds) * 1_000_000_000
        // Places for health checks are too few to wait for their peers.
        guard transport.endSending(), claim.kind != .reserved else { return close() }
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
        watch(for: phase == .open ? awaited.union(.writable) : .writable)
        if isStream, bufferedBytes > loop.limits.streamBufferBytes * Self.overrun { close() }
    }

    /// A stream whose sender goes on in spite of a full buffer is closed at this many times the limit.
    private static let overrun = 8

    private func watch(for events: Epoll.Events) {
        guard events != watched else { return }
        watched = events
        loop.epoll.modify(descriptor, events, tag: tag)
    }

    // MARK: TLS

    private func happenedSecurely(_ events: Epoll.Events) {
        let hasRoom = events.contains(.writable)
        if hasRoom, bufferedBytes > 0 { flush() }
        guard phase == .open, events.contains(.readable) || hasRoom && readNeedsRoom else { return }
        readNeedsRoom = false
        readSecurely()
        if phase == .open { watch(for: bufferedBytes > 0 ? awaited.union(.writable) : awaited) }
    }

    /// Reads the messages of TLS. Bytes of the peer's are dropped, as none are expected; too many end the connection.
    private func readSecurely() {
        guard let session = transport.session, let sockets = loop.secure else { return }
        for _ in 0..<Self.recordsPerRound {
            switch unsafe sockets.withScratch({ bytes in unsafe session.read(into: bytes) }) {
            case .done(let count): drained += count
            case .wantsReading: return
            case .wantsWriting:
                readNeedsRoom = true
                return
            case .ended: return peerEnded()
            case .failed: return close()
            }
            if drained > loop.limits.drainBodyBytes { return close() }
        }
    }

    /// Records read in one round, so that other sockets are not starved.
    private static let recordsPerRound = 4
}
