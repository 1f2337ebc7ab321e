import Glibc
import HTTPServer
import Platform

/// A socket of a loop that speaks HTTP/2 with another server.
final class LinkSocket: LoopSocket {
    /// The owner of a link, which is notified of the connection's events.
    protocol Owner: AnyObject {
        /// Whether the other server has connected to this one.
        var isAccepted: Bool { get }
        /// Whether an answer to the other server is under way.
        var isBusy: Bool { get }
        /// Whether anything may be sent yet.
        var maySend: Bool { get }
        /// The connection is made.
        func linkConnected()
        /// Bytes have come that are HTTP/2. Called after each read.
        func bytesArrived()
        /// The bytes that had come were read. Called at the end of the reads of a round.
        func bytesWereRead()
        /// The connection is closed, or was never made.
        func linkClosed()
        /// Called about once a second.
        func tick(now: Int64)
        /// The server stops soon.
        func drain()
    }

    let tag: UInt64
    let session: HTTP2Session
    /// The link's owner; nil once the socket is closed, as each of the two holds the other until then.
    var owner: (any Owner)?
    /// The instant at which bytes came last, on the monotonic clock in nanoseconds.
    private(set) var lastReceivedAt: Int64
    private unowned let links: LoopLinks
    private var loop: LoopCore { links.loop }
    private let descriptor: Int32
    private var isConnecting: Bool
    private var isClosed = false
    /// Whether the connection is aborted: an orderly end is of no use.
    var isBroken = false
    /// Whether the loop has noted that there are bytes to send.
    private var isNoted = false
    private var unsent: [UInt8] = []
    private var sent = 0
    private var watched: Epoll.Events

    /// Bytes that are gathered for one write.
    private static let writeBytes = 128 * 1024
    private static let readBytes = 64 * 1024
    /// The most reads in one round, so that other sockets are not starved.
    private static let readsPerRound = 4
    /// Milliseconds after which the kernel closes a connection that acknowledges nothing.
    private static let userTimeout: Int32 = 5000

    init(
        _ descriptor: Int32, among links: LoopLinks, tag: UInt64, _ session: HTTP2Session, isConnecting: Bool,
        watched: Epoll.Events
    ) {
        self.descriptor = descriptor
        self.links = links
        self.tag = tag
        self.session = session
        self.isConnecting = isConnecting
        self.watched = watched
        lastReceivedAt = links.loop.now
        set(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        set(Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, Self.userTimeout)
        set(SOL_SOCKET, SO_KEEPALIVE, 1)
    }

    private func set(_ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        unsafe setsockopt(descriptor, level, option, &value, 4)
    }

    /// Notes that the session has bytes to send: they leave at the end of the round.
    func noteBytes() {
        guard !isNoted, !isClosed else { return }
        isNoted = true
        links.noteBytes(self)
    }

    func happened(_ events: Epoll.Events) {
        if isConnecting {
            guard !events.isDisjoint(with: [.writable, .failed, .hungUp]) else { return }
            guard socketError == 0 else { return close() }
            isConnecting = false
            lastReceivedAt = loop.now
            watch(for: .readable)
            owner?.linkConnected()
            return noteBytes()
        }
        if events.contains(.writable) { noteBytes() }
        if !events.isDisjoint(with: [.readable, .hungUp, .failed]) { read() }
    }

    private var socketError: Int32 {
        var error: Int32 = 0
        var size = socklen_t(4)
        return unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno
    }

    private func read() {
        readAll()
        if !isClosed { owner?.bytesWereRead() }
    }

    /// Reads what has come, as far as a round may.
    func readAll() {
        for _ in 0..<Self.readsPerRound {
            let isGone = unsafe withUnsafeTemporaryAllocation(byteCount: Self.readBytes, alignment: 16) { bytes in
                let count = unsafe recv(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT))
                if count < 0 { return errno != EAGAIN && errno != EINTR ? true : nil }
                lastReceivedAt = loop.now
                let isSound = unsafe count > 0 && session.receive(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
                guard isSound else { return true }
                owner?.bytesArrived()
                return count == bytes.count ? false : nil
            }
            if isClosed { return }
            noteBytes()
            switch isGone {
            case nil: return
            case true?: return close()
            case false?: continue
            }
        }
    }

    /// Sends what the session has, as far as the kernel takes it.
    func flush() {
        isNoted = false
        guard !isConnecting, !isClosed, owner?.maySend ?? false else { return }
        while true {
            if sent == unsent.count {
                unsent.removeAll(keepingCapacity: true)
                sent = 0
                let isSound = unsafe session.send { bytes in
                    unsafe unsent.append(contentsOf: bytes)
                    return unsent.count < Self.writeBytes
                }
                guard isSound, !session.isOver || !unsent.isEmpty else { return close() }
            }
            guard sent < unsent.count else { return watch(for: .readable) }
            let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
            let count = unsafe unsent.withUnsafeBytes { bytes in
                unsafe Glibc.send(descriptor, bytes.baseAddress.map { unsafe $0 + sent }, bytes.count - sent, flags)
            }
            if count < 0 {
                if errno == EAGAIN || errno == EINTR { return watch(for: [.readable, .writable]) }
                // A GOAWAY that came before the connection ended is read first: it names the requests that the
                // other server has not looked at.
                readAll()
                return close()
            }
            sent += count
        }
    }

    func tick(now: Int64) { owner?.tick(now: now) }

    func drain() { owner?.drain() }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        loop.epoll.remove(descriptor)
        // Bytes that the kernel has not sent yet are dropped with an aborted connection: nobody waits for them.
        var linger = Glibc.linger(l_onoff: 1, l_linger: 0)
        let size = socklen_t(MemoryLayout.size(ofValue: linger))
        if isBroken { unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, size) }
        Glibc.close(descriptor)
        links.remove(self)
        owner?.linkClosed()
        owner = nil
    }

    private func watch(for events: Epoll.Events) {
        guard events != watched else { return }
        watched = events
        loop.epoll.modify(descriptor, events, tag: tag)
    }
}
