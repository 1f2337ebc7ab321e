package import Platform
import TLS

/// The core of one I/O thread: its daemons, connections and detached sockets.
///
/// The library hands requests to `Exchange`; this class decides when the library runs. A *round* is one pass of the
/// thread's loop: a wait, then everything that is ready.
package final class LoopCore: @unchecked Sendable {
    // Unchecked: made before its thread starts, then used by that thread only.
    let loop: Loop
    package let limits: ServerLimits
    let quota: SocketQuota
    let phase: ServerPhase
    package let epoll = Epoll()
    /// The instant at which this round began, on the monotonic clock in nanoseconds.
    package private(set) var now = Clocks.monotonic()
    private(set) var handler: any LoopHandler
    private(set) var isDraining = false
    /// The instant up to which a stop waits at most for other servers to close their connections, on the monotonic
    /// clock in nanoseconds.
    private var lingersUntil: Int64 = 0
    private let handOver = HandOver()
    private var daemons: [LibraryDaemon] = []
    private(set) var connections: [Exchange] = []
    /// The connections that came beyond the ordinary number, oldest first.
    private(set) var reserved: [Exchange] = []
    private(set) var sockets = SocketTable<DetachedSocket>(kind: 0)
    /// The loop's listeners for other servers, and its connections with them either way.
    package var guest: (any LoopGuest)?
    /// The connections with TLS and their listeners; nil where the loop has no such listener.
    private(set) var secure: SecureSockets?
    /// The kind that the next connection counts as; set by `admits`.
    var nextKind = SocketClaim.Kind.connection
    /// Sockets that may be closed for newcomers, the next one last; listed again when none is left, and after each
    /// tick.
    var candidates: [EvictionCandidate] = []
    /// The inbox of eviction requests from other loops, and that of the loop which this one asks.
    let evictions: EvictionInbox
    private(set) var nextEvictions: EvictionInbox?
    /// The number of other loops.
    private(set) var otherLoops = 0
    private var ending: [DetachedSocket] = []
    private var closed: [any StreamSink] = []
    private var currentDate = HTTPDate()
    private var nextTick: Int64 = 0
    /// Whether the loop waits longer than for the next tick.
    private var isResting = false
    private var ticks = 0

    /// The number of exchanges with a request under way, and of those that wait for the handler's answer.
    private var busy = 0
    private var owed = 0
    /// The number of exchanges with a request that another server has forwarded.
    private var busyForPeers = 0
    /// Whether the library was given work outside its run.
    private var needsRun = false
    private var isRunning = false
    /// Whether the library's last run did more than ask for answers that are not there yet.
    private var progressed = false
    /// The count of `Loop.askForReading` that was answered last, and the rounds spent on the next answer.
    private var readingsAnswered = 0
    private var readingRounds = 0

    init(_ loop: Loop, limits: ServerLimits, quota: SocketQuota, phase: ServerPhase, handler: any LoopHandler) {
        self.loop = loop
        self.limits = limits
        self.quota = quota
        self.phase = phase
        self.handler = handler
        evictions = EvictionInbox(loop)
        epoll.add(loop.events.descriptor, .readable, tag: Self.wakeTag)
        loop.core.update { $0 = self }
    }

    /// Sets the inbox of the next loop, and the number of other loops.
    func ask(_ next: EvictionInbox, of count: Int) {
        nextEvictions = next
        otherLoops = count
    }

    /// Adds a listening socket, and takes it over. Called before the thread starts.
    ///
    /// - Parameter context: the TLS of a listener that is secure.
    func listen(_ listener: ListeningSocket, _ context: Published<TLSContext?>) throws(ListenError) {
        let daemon = try LibraryDaemon(listener, loop: self)
        daemons.append(daemon)
        if daemon.isSecure {
            let sockets = secure ?? SecureSockets(self, context)
            secure = sockets
            sockets.listen(listener.descriptor, for: daemon)
        }
        epoll.add(daemon.pollDescriptor, .readable, tag: Self.daemonTag)
    }

    private static let wakeTag: UInt64 = 0
    private static let daemonTag: UInt64 = 1
    private static let tickNs: Int64 = 1_000_000_000
    /// Ticks between two looks for the beginnings of further requests; each look costs a system call for each idle
    /// connection.
    private static let ticksPerLook = 5
    /// Nanoseconds that other servers have to close their connections once this one stops.
    private static let lingerNs: Int64 = 1_000_000_000
    /// Milliseconds between two runs of the library while it can't report whether it has work: an answer is
    /// awaited (which it counts as work) and another request is under way.
    private static let unsureMs: Int32 = 1
    /// Milliseconds between two runs of the library while every request under way waits for its answer.
    private static let waitingMs: Int32 = 50
    /// Milliseconds after which a stopping loop checks again whether it is done.
    private static let stoppingMs: Int32 = 20
    /// The least peak of sockets after which memory is returned to the system.
    private static let trimmedPeak = 1000
    /// Rounds after which a loop that always has more to read answers `Loop.askForReading` all the same.
    private static let mostReadingRounds = 64
    /// The most runs of the library in one round, so that streams are not starved.
    private static let runsPerRound = 4

    // MARK: The thread

    func run() {
        var events: [Epoll.Event] = []
        nextTick = now + Self.tickNs
        while true {
            let asked = loop.readingsAsked
            epoll.wait(&events, milliseconds: asked == readingsAnswered ? timeout() : 0)
            now = Clocks.monotonic()
            // The handler shows that it lives before it does what ended the rest, which may take long.
            if isResting { tick() }
            let isWoken = dispatch(events)
            secure?.shakeHands()
            if isWoken, let next = handOver.take() { handler = next }
            followPhase()
            if isWoken {
                takeEvictions()
                handler.woken()
            }
            if guest?.takeProgress() ?? false { handler.requestsWereHandled() }
            let isDue = events.isEmpty || events.contains { $0.tag == Self.daemonTag }
            if isDue || libraryHasWork { runLibrary() }
            secure?.sendAnswers()
            if asked != readingsAnswered {
                answerReading(asked, isQuiet: events.allSatisfy { $0.tag == Self.wakeTag })
            }
            if now >= nextTick { tick() }
            if let deadline = handler.deadline, now >= deadline { handler.deadlineCame(now: now) }
            reportClosed()
            guest?.flush()
            if phase.isStopping, isDone { break }
        }
        tearDown()
    }

    /// Replaces the handler by `next`, and waits until the loop has taken it. Called on another thread, while the
    /// loop runs.
    func handOver(to next: any LoopHandler) {
        handOver.leave(next)
        loop.wake()
        handOver.waitUntilTaken()
    }

    /// Ends a loop whose thread never ran.
    func discard() { tearDown() }

    private func timeout() -> Int32 {
        if libraryHasWork || !closed.isEmpty || guest?.hasWork ?? false || secure?.hasWork ?? false { return 0 }
        let rest = hasNothingOpen ? handler.rest(now: now) : nextTick
        let next = min(max(rest, nextTick), handler.deadline ?? .max)
        isResting = rest > nextTick
        let longest = phase.isStopping ? Self.stoppingMs : Int32(clamping: (next - now + 999_999) / 1_000_000)
        if owed == 0 { return max(0, longest) }
        return max(0, min(longest, busy > owed ? Self.unsureMs : Self.waitingMs))
    }

    /// Whether the loop has neither a connection nor a socket that it must look after, and goes on.
    private var hasNothingOpen: Bool {
        connections.isEmpty && sockets.isEmpty && ending.isEmpty && guest == nil && secure?.isEmpty ?? true
            && !phase.isStopping
    }

    /// Whether the library should run without an event. While answers are awaited the library always reports work
    /// (it asks for each on every run), so then it runs again only after a run that did something else.
    private var libraryHasWork: Bool {
        needsRun || (owed > 0 ? progressed : daemons.contains { $0.hasWork })
    }

    /// Handles events other than the library's. Returns whether the loop was woken.
    private func dispatch(_ events: [Epoll.Event]) -> Bool {
        var isWoken = false
        for event in events {
            if event.tag == Self.wakeTag {
                loop.acknowledge()
                isWoken = true
            } else if event.tag != Self.daemonTag {
                happened(event)
            }
        }
        return isWoken
    }

    private func happened(_ event: Epoll.Event) {
        if let socket = sockets[event.tag] { return socket.happened(event.events) }
        if let secure, secure.happened(event) { return }
        guest?.happened(event)
    }

    /// Calls `LoopHandler.socketsWereRead` in the first round that finds nothing more in the sockets, or in the
    /// last of `mostReadingRounds`.
    private func answerReading(_ asked: Int, isQuiet: Bool) {
        readingRounds += 1
        let hasRead = isQuiet && !libraryHasWork && !(secure?.hasWork ?? false)
        guard hasRead || readingRounds == Self.mostReadingRounds else { return }
        readingsAnswered = asked
        readingRounds = 0
        handler.socketsWereRead(round: asked)
    }

    private func runLibrary() {
        for _ in 0..<Self.runsPerRound {
            needsRun = false
            progressed = false
            isRunning = true
            for daemon in daemons { daemon.run() }
            isRunning = false
            if progressed { handler.requestsWereHandled() }
            guard needsRun else { break }
        }
    }

    private func tick() {
        nextTick = now + Self.tickNs
        isResting = false
        ticks &+= 1
        if ticks % Self.ticksPerLook == 0 {
            for exchange in connections { exchange.lookForBeginning() }
        }
        for index in connections.indices.reversed() { checkDeadline(of: connections[index]) }
        for socket in ending { socket.checkDeadline() }
        ending.removeAll { $0.isClosed }
        secure?.tick()
        guest?.tick(now: now)
        candidates = []
        handler.tick(now: now)
        // The allocator keeps the memory of closed connections, some 10 KB each.
        if quota.hasHalved(sincePeakOf: Self.trimmedPeak) { ProcessUsage.trimMemory() }
    }

    private func checkDeadline(of exchange: Exchange) {
        let seconds =
            switch exchange.stage {
            case .idle where exchange.hasBegun: limits.requestSeconds
            case .idle where exchange.hasRequested: limits.idleSeconds
            case .idle: limits.firstByteSeconds
            case .head, .body, .discarding: limits.requestSeconds
            case .sending: limits.responseSeconds
            case .owed, .left, .broken: Int.max / 1_000_000_000
            }
        let isLate = now - exchange.since > Int64(seconds) * Self.tickNs
        if isLate, exchange.beginsLate() { return }
        if isLate { exchange.cutOff() } else if exchange.hasUnreadEnd { exchange.connection?.shutDown() }
    }

    /// Reports closed sockets to the handler, which may close others meanwhile.
    private func reportClosed() {
        while let sink = closed.popLast() {
            let owner = sink.owner
            sink.owner = .none
            switch owner {
            case .none: break
            case .stream(let stream):
                stream.producer?.streamClosed()
                stream.producer = nil
            case .parked(let parked):
                parked.producer?.streamClosed()
                parked.producer = nil
            }
        }
    }

    // MARK: The end

    private func followPhase() {
        guard phase.isDraining, !isDraining else { return }
        isDraining = true
        lingersUntil = now + Self.lingerNs
        // Connections that the kernel has accepted already must not be reset.
        runLibrary()
        for daemon in daemons { daemon.quiesce() }
        secure?.drain()
        guest?.drain()
        handler.drainBegan()
    }

    private var isDone: Bool {
        // The look for unsent bytes comes before that for sockets: it makes one of a connection that ends.
        let isSent = busy == 0 && busyForPeers == 0 && !(secure?.hasUnsent() ?? false)
        let isQuiet = isSent && sockets.isEmpty && !(guest?.isBusy ?? false)
        let isAwaited = guest?.isAwaited ?? false || secure?.isAwaited ?? false
        return isQuiet && (now >= lingersUntil || !isAwaited) || now >= phase.deadline
    }

    private func tearDown() {
        for daemon in daemons { daemon.stop() }
        daemons = []
        secure?.close()
        for socket in sockets.all { socket.close() }
        guest?.close()
        ending = []  // they hold this loop, as do the candidates
        candidates = []
        reportClosed()
        handler = ClosedHandler()
        loop.core.update { $0 = nil }
    }

    // MARK: From the library's callbacks

    func connectionStarted(_ connection: LibraryConnection, on daemon: LibraryDaemon) -> Exchange {
        progressed = true
        let exchange = Exchange(loop: self, daemon: daemon, connection: connection, nextKind)
        // A secure connection counts from its accept.
        if let claim = exchange.claim, exchange.secured == nil { quota.came(claim) }
        exchange.place = connections.count
        connections.append(exchange)
        if exchange.isFromReserve { reserved.append(exchange) }
        return exchange
    }

    func connectionClosed(_ exchange: Exchange) {
        if let secured = exchange.secured {
            secured.exchangeEnded(exchange.claim)
        } else if let claim = exchange.claim {
            quota.went(claim)
        }
        if exchange.isFromReserve { reserved.removeAll { $0 === exchange } }
        let last = connections.removeLast()
        guard last !== exchange else { return }
        last.place = exchange.place
        connections[exchange.place] = last
    }

    func noteStage(from old: Exchange.Stage, to new: Exchange.Stage, isFromPeer: Bool) {
        if isFromPeer {
            // The library does not ask for the answers to these requests.
            if old == .idle, new != .idle { busyForPeers += 1 }
            if old != .idle, new == .idle { busyForPeers -= 1 }
            return
        }
        if old == .idle, new != .idle { busy += 1 }
        if old != .idle, new == .idle { busy -= 1 }
        if old == .owed { owed -= 1 }
        if new == .owed { owed += 1 }
    }

    func noteProgress() {
        progressed = true
    }

    /// Notes that the library has work that it does not know of. Does nothing while the library runs.
    func noteWork() {
        if !isRunning { needsRun = true }
    }

    func noteForgottenAnswer() {
        quota.answerWasForgotten()
    }

    // MARK: Detached sockets

    /// Takes over a socket that is counted already; nil where the kernel can't watch it, and then the caller keeps
    /// it.
    ///
    /// - Parameter isWatched: whether this loop watches the socket already.
    func adopt(_ transport: SocketTransport, isWatched: Bool = false, _ claim: SocketClaim) -> DetachedSocket? {
        let socket = DetachedSocket(transport, loop: self, tag: sockets.nextTag, claim)
        guard socket.watch(isWatched: isWatched) else { return nil }
        sockets.insert(socket)
        return socket
    }

    func noteEnding(_ socket: DetachedSocket) {
        ending.append(socket)
    }

    func socketClosed(_ socket: DetachedSocket) {
        sockets.remove(socket.tag)
        quota.went(socket.claim)
        closed.append(socket)
    }

    /// Notes that a sink on a connection of another server, a stream's or a parked answer's, is closed.
    package func sinkClosed(_ sink: any StreamSink) {
        quota.returnStream()
        closed.append(sink)
    }

    /// The value of `Date` now.
    func date() -> [UInt8] {
        currentDate.bytes(second: Clocks.realtime() / 1_000_000_000)
    }
}
