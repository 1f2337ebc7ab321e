import Glibc
import Platform
import Synchronization
public import TLS

/// An HTTP/1.1 server with threads of its own, each of which runs an event loop around libmicrohttpd and a handler.
public final class HTTPServer: Sendable {
    /// The loops' threads: started once, joined once.
    private struct Threads: Sendable {
        var running: [Thread] = []
        var isStarted = false
        var isEnded = false
    }

    /// The addresses at which the server listens, in the order of the configuration, passed sockets first.
    public let boundAddresses: [BoundAddress]
    private let loops: [LoopCore]
    private let quota: SocketQuota
    private let tls: Published<TLSContext?>
    private let phase = ServerPhase()
    private let files: [(path: String, identity: FileIdentity?)]
    private let threads = Guarded(Threads())

    /// Binds every listener; connections wait until `start`.
    ///
    /// - Parameters:
    ///   - configuration: listeners and bounds; at least one listener.
    ///   - makeHandler: called once for each loop, on the calling thread.
    /// - Throws: one line that names the address and what is wrong with it.
    public init(
        _ configuration: ServerConfiguration, makeHandler: @escaping @Sendable (Loop) -> any LoopHandler
    ) throws(ListenError) {
        guard !configuration.listeners.isEmpty || !configuration.passedSockets.isEmpty else {
            throw ListenError("no address to listen at")
        }
        if configuration.tls == nil, let secure = configuration.listeners.first(where: \.isSecure) {
            throw ListenError("\(secure.url): no certificate to serve it with")
        }
        if configuration.tls == nil, let secure = configuration.passedSockets.first(where: \.isSecure) {
            throw ListenError("the passed socket \(secure.descriptor): no certificate to serve it with")
        }
        signal(SIGPIPE, SIG_IGN)
        let quota = SocketQuota(
            configuration.limits, descriptors: try Self.descriptors(besideLoopsOf: configuration),
            each: configuration.isSecure ? SecureConnection.descriptors : 1, loops: configuration.loops)
        let tls = Published(configuration.tls)
        let phase = phase
        let loops = (0..<max(1, configuration.loops)).map { index in
            let loop = Loop(index: index)
            return LoopCore(
                loop, limits: configuration.limits, quota: quota, phase: phase, handler: makeHandler(loop))
        }
        for (index, loop) in loops.enumerated() {
            loop.ask(loops[(index + 1) % loops.count].evictions, of: loops.count - 1)
        }
        self.quota = quota
        self.loops = loops
        self.tls = tls
        var bound: [BoundAddress] = []
        var files: [(String, FileIdentity?)] = []
        do throws(ListenError) {
            if let guests = try configuration.guests?.makeGuests(on: loops) {
                for (loop, guest) in zip(loops, guests) { loop.guest = guest }
            }
            for socket in configuration.passedSockets {
                let sockets = try ListeningSocket.adopt(socket, index: bound.count, loops: loops.count)
                bound.append(sockets[0].bound)
                try Self.spread(sockets, over: loops, from: bound.count - 1, tls)
            }
            for address in configuration.listeners {
                let index = bound.count
                let sockets = try ListeningSocket.open(address, index: index, loops: loops.count)
                bound.append(sockets[0].bound)
                if case .unix(let path, _) = address { files.append((path, sockets[0].file)) }
                try Self.spread(sockets, over: loops, from: index, tls)
            }
        } catch {
            for loop in loops { loop.discard() }
            for file in files { ListeningSocket.remove(file.0, file.1) }
            throw error
        }
        boundAddresses = bound
        self.files = files
    }

    /// Begins to serve. Call once.
    public func start() {
        threads.withLock { threads in
            guard !threads.isStarted, !threads.isEnded else { return }
            threads.isStarted = true
            threads.running = loops.map { loop in Thread(name: "http-\(loop.loop.index)") { loop.run() } }
        }
    }

    /// Replaces the handlers: once this returns, no request reaches the earlier handlers, which must have admitted
    /// no request and must hold no stream. Call once, between `start` and `stop`.
    ///
    /// - Parameter makeHandler: called once for each loop, on the calling thread.
    public func handOver(to makeHandler: (Loop) -> any LoopHandler) {
        for loop in loops { loop.handOver(to: makeHandler(loop.loop)) }
    }

    /// Replaces certificate and key for connections that come from now on; those there are keep theirs. May be called on
    /// any thread.
    public func replaceTLS(_ context: TLSContext) { tls.publish(context) }

    /// The instant at which the certificate expires, in seconds since 1970; nil without one.
    public var certificateExpiry: Int64? { tls.value?.notAfter }

    /// Stops taking new connections; each answer from now on ends its connection. May be called on any thread.
    public func beginDrain() {
        guard phase.drain() else { return }
        for loop in loops { loop.loop.wake() }
    }

    /// Whether the server takes no new connections any more.
    public var isDraining: Bool { phase.isDraining }

    /// Drains, waits at most `deadlineSeconds` until every request is answered and every stream has ended, then
    /// cuts off whatever is still under way and ends. Must not be called on a loop's thread; a second call waits
    /// for the first.
    public func stop(deadlineSeconds: Double) {
        phase.drain()
        let seconds = min(max(0, deadlineSeconds), 1e6)
        phase.stop(deadline: Clocks.monotonic() + Int64(seconds * 1e9))
        for loop in loops { loop.loop.wake() }
        threads.withLock { threads in
            guard !threads.isEnded else { return }
            threads.isEnded = true
            for thread in threads.running { thread.join() }
            threads.running = []
            if !threads.isStarted { for loop in loops { loop.discard() } }
        }
        for file in files { ListeningSocket.remove(file.path, file.identity) }
    }

    /// The number of connections that are neither streams nor parked answers.
    public var connectionCount: Int { quota.connections }

    /// The number of detached streams and parked answers.
    public var streamCount: Int { quota.streams }

    /// Bytes that the larger bodies under way hold.
    public var bodyBytes: Int { quota.bodies.total }

    /// Bytes that the larger answers under way hold or have reserved.
    public var answerBytes: Int { quota.answers.total }

    /// The number of answers that the handlers dropped without sending, since the start. Each is a mistake in a
    /// handler.
    public var forgottenAnswers: Int { quota.forgottenAnswers }

    /// Gives each loop a socket that shares the port, or a single socket to one loop.
    private static func spread(
        _ sockets: [ListeningSocket], over loops: [LoopCore], from start: Int, _ tls: Published<TLSContext?>
    ) throws(ListenError) {
        for (offset, socket) in sockets.enumerated() {
            do throws(ListenError) {
                try loops[(start + offset) % loops.count].listen(socket, tls)
            } catch {
                for later in sockets[(offset + 1)...] { close(later.descriptor) }
                throw error
            }
        }
    }

    /// Returns how many descriptors the process may open besides those of its second and later loops.
    ///
    /// - Throws: when these take over half of all.
    private static func descriptors(besideLoopsOf configuration: ServerConfiguration) throws(ListenError) -> Int {
        let all = raiseDescriptorLimit()
        // An epoll and an event of its own, and a socket and an epoll of the library for each listener.
        let each = 2 + 2 * (configuration.listeners.count + configuration.passedSockets.count)
        let further = (configuration.loops - 1) * each
        guard further <= all / 2 else {
            throw ListenError("\(all) file descriptors are too few for \(configuration.loops) I/O threads")
        }
        return all - further
    }

    /// Raises the limit of open descriptors as far as the process may. Returns the limit.
    private static func raiseDescriptorLimit() -> Int {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        limit.rlim_cur = limit.rlim_max
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Int(clamping: limit.rlim_cur)
    }
}

/// The server's phase (serving, draining or stopping), which the loops read. May be used on any thread.
final class ServerPhase: Sendable {
    private let draining = Atomic(false)
    private let stopAt = Atomic(Int64.max)

    var isDraining: Bool { draining.load(ordering: .acquiring) }
    var isStopping: Bool { stopAt.load(ordering: .acquiring) != .max }

    /// The instant at which the loops cut off what is under way, on the monotonic clock in nanoseconds; `.max`
    /// before a stop.
    var deadline: Int64 { stopAt.load(ordering: .acquiring) }

    /// Begins to drain. Returns false where the server drains already.
    @discardableResult
    func drain() -> Bool {
        !draining.exchange(true, ordering: .acquiringAndReleasing)
    }

    func stop(deadline: Int64) {
        stopAt.store(min(deadline, .max - 1), ordering: .releasing)
    }
}
