import Glibc
import HTTPServer
package import Platform

/// A loop's connections with other servers: the listener, and connections either way. Confined to the loop.
package final class LoopLinks: LoopGuest {
    unowned let loop: LoopCore
    let limits: PeerLimits
    private var table = SocketTable<LinkSocket>(kind: 1)
    private var listener: PeerListener?
    /// Connections with bytes to send, flushed at the end of the round so that the bytes leave together.
    private var dirty: [LinkSocket] = []
    /// Connections that are to be closed at the end of the round.
    private var left: [PeerLink] = []
    /// Whether requests of other servers, or answers of theirs, have come.
    private var hasProgress = false

    /// The links of `loop`, with a socket that listens for other servers, which they take over.
    init(_ loop: LoopCore, _ limits: PeerLimits, listeningAt socket: ListeningSocket?) {
        self.loop = loop
        self.limits = limits
        guard let socket else { return }
        listener = PeerListener(socket.descriptor, among: self, tag: Self.listenerTag)
        loop.epoll.add(socket.descriptor, .readable, tag: Self.listenerTag)
    }

    /// The tag of the listener.
    private static let listenerTag: UInt64 = 2

    /// Whether something is left to be done in a further round.
    package var hasWork: Bool { hasProgress || !dirty.isEmpty }

    /// Watches a connection, which `make` makes with the tag given; nil where the kernel can't watch it.
    func watch(_ descriptor: Int32, _ events: Epoll.Events, _ make: (UInt64) -> LinkSocket) -> LinkSocket? {
        let tag = table.nextTag
        guard loop.epoll.add(descriptor, events, tag: tag) == 0 else { return nil }
        let socket = make(tag)
        table.insert(socket)
        return socket
    }

    /// Notes that a connection has nothing more to do. It is closed at the end of the round, up to which its
    /// session is in use.
    func noteLeft(_ link: PeerLink) { left.append(link) }

    /// Whether other servers are connected to this one: they close first.
    package var isAwaited: Bool { table.all.contains { $0.owner?.isAccepted ?? false } }

    package var isBusy: Bool { table.all.contains { $0.owner?.isBusy ?? false } }

    /// The number of connections.
    var count: Int { table.count }

    func remove(_ socket: LinkSocket) {
        table.remove(socket.tag)
        dirty.removeAll { $0 === socket }
    }

    package func happened(_ event: Epoll.Event) {
        if let socket = table[event.tag] { return socket.happened(event.events) }
        if event.tag == Self.listenerTag { listener?.happened(event.events) }
    }

    /// Notes that a connection has bytes to send.
    func noteBytes(_ socket: LinkSocket) { dirty.append(socket) }

    /// Notes that something came which the handler is to process.
    func noteProgress() { hasProgress = true }

    /// Whether something came since the last call.
    package func takeProgress() -> Bool {
        defer { hasProgress = false }
        return hasProgress
    }

    /// Sends the bytes that the round has left to send, and closes the connections that have nothing more to do.
    package func flush() {
        while let socket = dirty.popLast() { socket.flush() }
        while let link = left.popLast() { link.finish() }
    }

    package func tick(now: Int64) {
        for socket in table.all { socket.tick(now: now) }
    }

    /// Closes the listeners, and makes the connections take no further requests.
    package func drain() {
        listener?.close()
        listener = nil
        for socket in table.all { socket.drain() }
    }

    package func close() {
        listener?.close()
        listener = nil
        for socket in table.all { socket.close() }
    }
}

/// A socket at which other servers connect.
final class PeerListener: LoopSocket {
    let descriptor: Int32
    let tag: UInt64
    private unowned let links: LoopLinks
    private var isClosed = false

    /// The most connections of other servers to one loop: each of their loops makes one.
    private static let mostConnections = 1024
    /// The most connections taken in one round.
    private static let acceptsPerRound = 64

    init(_ descriptor: Int32, among links: LoopLinks, tag: UInt64) {
        self.descriptor = descriptor
        self.links = links
        self.tag = tag
    }

    func happened(_ events: Epoll.Events) {
        for _ in 0..<Self.acceptsPerRound {
            guard let (socket, peer) = SocketAddress.nextConnection(at: descriptor) else { return }
            guard links.count < Self.mostConnections else {
                Glibc.close(socket)
                continue
            }
            PeerConnection.begin(socket, among: links, peer: peer)
        }
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        links.loop.epoll.remove(descriptor)
        Glibc.close(descriptor)
    }
}
