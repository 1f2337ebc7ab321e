import Platform

/// What connects a loop with other servers: listeners, and connections either way. Confined to the loop.
final class LoopLinks {
    private let epoll: Epoll
    private var table = SocketTable<LinkSocket>(kind: 1)
    private var listeners: [PeerListener] = []
    /// Connections with bytes to send, told at the end of the round so that they leave together.
    private var dirty: [LinkSocket] = []
    /// Connections that are to be closed at the end of the round.
    private var left: [PeerLink] = []
    /// Whether requests of other servers, or answers of theirs, have come.
    private var hasProgress = false

    init(_ epoll: Epoll) { self.epoll = epoll }

    /// Tag of the `index`-th listener.
    private static func listenerTag(_ index: Int) -> UInt64 { 2 + UInt64(index) }

    /// Whether something is left to be done in a further round.
    var hasWork: Bool { hasProgress || !dirty.isEmpty }

    /// Adds a listener, which `make` makes with the tag given.
    func add(_ make: (UInt64) -> PeerListener) {
        let tag = Self.listenerTag(listeners.count)
        let listener = make(tag)
        listeners.append(listener)
        epoll.add(listener.descriptor, .readable, tag: tag)
    }

    /// Watches a connection, which `make` makes with the tag given; nil where the kernel can't watch it.
    func watch(_ descriptor: Int32, _ events: Epoll.Events, _ make: (UInt64) -> LinkSocket) -> LinkSocket? {
        let tag = table.nextTag
        guard epoll.add(descriptor, events, tag: tag) == 0 else { return nil }
        let socket = make(tag)
        table.insert(socket)
        return socket
    }

    /// Notes that a connection has nothing more to do. Its session is in use up to the end of the round.
    func noteLeft(_ link: PeerLink) { left.append(link) }

    /// Whether other servers are connected to this one.
    var hasAccepted: Bool { table.all.contains { $0.owner?.isAccepted ?? false } }

    /// How many connections there are.
    var count: Int { table.count }

    func remove(_ socket: LinkSocket) {
        table.remove(socket.tag)
        dirty.removeAll { $0 === socket }
    }

    func happened(_ event: Epoll.Event) {
        if let socket = table[event.tag] { return socket.happened(event.events) }
        listeners.first { $0.tag == event.tag }?.happened(event.events)
    }

    /// Notes that a connection has bytes to send.
    func noteBytes(_ socket: LinkSocket) { dirty.append(socket) }

    /// Notes that something came which the handler is to go on with.
    func noteProgress() { hasProgress = true }

    /// Whether something came since the last call.
    func takeProgress() -> Bool {
        defer { hasProgress = false }
        return hasProgress
    }

    /// Sends what the round has left to send.
    func flush() {
        while let socket = dirty.popLast() { socket.flush() }
        while let link = left.popLast() { link.finish() }
    }

    func tick(now: Int64) {
        for socket in table.all { socket.tick(now: now) }
    }

    /// Takes no further connections; no further requests come by those there are.
    func drain() {
        for listener in listeners { listener.close() }
        listeners = []
        for socket in table.all { socket.drain() }
    }

    func close() {
        for listener in listeners { listener.close() }
        listeners = []
        for socket in table.all { socket.close() }
    }
}
