import Platform
import TLS

/// A loop's connections with TLS, and the listeners at which they come. Confined to the loop.
@safe final class SecureSockets {
    private unowned let loop: LoopCore
    /// The context of connections that come from now on.
    private let context: Published<TLSContext?>
    private var listeners: [SecureListener] = []
    private var table = SocketTable<SecureConnection>(kind: 2)
    private var queue = HandshakeQueue()
    /// The connections of the reserve, oldest first, and perhaps some whose request has come or that are closed.
    private var reserve: [SecureConnection] = []
    /// Connections whose answers the library is about to write.
    private var answered: [SecureConnection] = []
    private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: scratchBytes, alignment: 64)

    /// Bytes that are carried at once, to or from a connection. A record, of at most 16 KiB, is always read whole.
    static let scratchBytes = 64 * 1024
    /// Nanoseconds that the handshakes of one round may take together. At least one goes on in each round.
    private static let roundNs: Int64 = 2_000_000

    init(_ loop: LoopCore, _ context: Published<TLSContext?>) {
        self.loop = loop
        self.context = context
    }

    deinit { unsafe scratch.deallocate() }

    /// Adds a listening socket, which it takes over. Called before the loop's thread starts.
    func listen(_ descriptor: Int32, for daemon: LibraryDaemon) {
        listeners.append(SecureListener(descriptor, for: daemon, loop: loop))
    }

    /// Memory of the loop for bytes on their way; not to be kept.
    func withScratch<Result>(_ body: (UnsafeMutableRawBufferPointer) -> Result) -> Result {
        unsafe body(scratch)
    }

    // MARK: Connections

    /// Takes over a socket that is counted already.
    func begin(_ socket: Int32, peer: SocketAddress, _ claim: SocketClaim, for daemon: LibraryDaemon) {
        let connection = SecureConnection(
            socket, in: self, loop: loop, tag: table.nextTag, peer: peer, claim, for: daemon)
        table.insert(connection)
        if claim.kind == .reserved { reserve.append(connection) }
        if !connection.watch() { connection.close() }
    }

    /// Makes a session with the newest context; nil without memory.
    func makeSession(on socket: Int32) -> TLSSession? {
        context.value.flatMap { TLSSession($0, socket: socket) }
    }

    /// Puts a connection in the queue of handshakes.
    func enqueue(_ connection: SecureConnection) { queue.append(connection) }

    func remove(_ connection: SecureConnection) { table.remove(connection.tag) }

    /// Notes that the library is about to write an answer.
    func noteAnswer(_ connection: SecureConnection) { answered.append(connection) }

    /// The connections without a request so far.
    var beginners: [SecureConnection] { table.all.filter(\.isBeginning) }

    /// The connections of the reserve without a request so far, oldest first.
    var reserved: [SecureConnection] {
        reserve.removeAll { !$0.isBeginning }
        return reserve
    }

    // MARK: From the loop

    /// Whether something is left to be done in a further round, which then follows at once.
    var hasWork: Bool { !queue.isEmpty }

    /// Whether there is no connection.
    var isEmpty: Bool { table.isEmpty && queue.isEmpty }

    /// Handles an event. Returns false where it is none of these sockets'.
    func happened(_ event: Epoll.Event) -> Bool {
        if event.tag == SecureListener.tag {
            for listener in listeners { listener.accept(into: self) }
            return true
        }
        guard let connection = table[event.tag & ~SecureConnection.pairMark] else { return false }
        if event.tag & SecureConnection.pairMark == 0 {
            connection.happened(event.events)
        } else {
            connection.pairHappened(event.events)
        }
        return true
    }

    /// Goes on with the handshakes that have bytes, for as long as those of one round may take.
    func shakeHands() {
        guard !queue.isEmpty else { return }
        let end = Clocks.monotonic() + Self.roundNs
        repeat { queue.popFirst()?.shakeHands() } while !queue.isEmpty && Clocks.monotonic() < end
    }

    /// Carries the answers on that the library has written, without another wait for them.
    func sendAnswers() {
        guard !answered.isEmpty else { return }
        let written = answered
        answered.removeAll(keepingCapacity: true)
        for connection in written { connection.sendAnswer() }
    }

    /// Called about once a second.
    func tick() {
        for listener in listeners { listener.tick() }
        for connection in table.all where connection.isLate { connection.close() }
    }

    // MARK: The end

    /// Takes the connections that the kernel has accepted already, and no further ones.
    func drain() {
        for listener in listeners {
            listener.accept(into: self)
            listener.close()
        }
        listeners = []
    }

    /// Carries on what the library has written, and returns whether a client has not taken all of it.
    func hasUnsent() -> Bool {
        let connections = table.all
        for connection in connections { connection.flushAnswer() }
        return connections.contains(where: \.hasUnsent)
    }

    /// Whether a client that has connected has sent no request yet.
    var isAwaited: Bool { table.all.contains(where: \.isBeginning) }

    /// Closes everything.
    func close() {
        for listener in listeners { listener.close() }
        listeners = []
        for connection in table.all { connection.close() }
        answered = []
        reserve = []
        queue = HandshakeQueue()
    }
}
