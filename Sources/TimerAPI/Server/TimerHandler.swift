import HTTPServer
import Platform
import Synchronization
import TimerCore
import TimerLog
import TimerService
import WireJSON

/// Answers the requests of one I/O loop.
///
/// The requests of one round of the loop are gathered and applied in one hold of the engine's lock. An answer is sent once
/// the records that it rests on are durable.
final class TimerHandler: LoopHandler {
    let context: APIContext
    let inbox: LoopInbox
    let reader: RequestReader
    let executor: Executor
    let ids = IDSource()
    private let scratch = Scratch()
    private(set) var gate: Gate
    private(set) var access: Published<AccessSettings>.Copy
    let metrics: HTTPMetrics
    private let heart: Heartbeat
    private let socketReader: SocketReader
    /// The round of reading the sockets whose requests have not all been carried out yet.
    private var readRound: Int?
    private(set) var streams: StreamTable!
    /// The partitions that this process owns.
    private(set) var partitions: Published<PartitionMap>.Copy
    /// How often partitions have come or gone, and by number, the count when a partition did last.
    private(set) var moves: UInt64 = 0
    private var movedAt: [UInt64]
    /// How the volume is divided.
    let layout: PartitionLayout
    /// Requests that wait for a step under a lock: short ones, which take one step or a few, and long ones.
    private var ready: PartitionQueues<Ticket>
    private var long: PartitionQueues<Ticket>
    /// Whether the partition of the next step is one with long requests, where there is one.
    private var isLongNext = true
    /// Requests that took a step in this hold of the lock.
    private var applied: [Ticket] = []
    /// Requests whose answers wait for the disk; `resolved` holds them while they are looked at.
    var waiting: [Ticket] = []
    var resolved: [Ticket] = []
    /// Requests that were refused as overload and wait for their next try.
    var held: [Ticket] = []
    /// Requests that wait for the store to be read.
    var reading: [UInt64: Ticket] = [:]
    /// Exports under way.
    var exports: [UInt64: ExportStream] = [:]
    /// Where requests are forwarded to; nil where this server forwards none.
    var routes: Published<ClusterRoutes>.Copy?
    /// The connections by which it does.
    var links: PeerLinks
    /// Requests that another server answers, and those of them that wait for a server.
    var forwarded: [ObjectIdentifier: ForwardedRequest] = [:]
    var ownerless: [ForwardedRequest] = []
    /// When those without a server are tried again, on the monotonic clock.
    var nextOwnerTry: Int64 = 0
    private var nextSerial: UInt64 = 1
    private(set) var isDraining = false

    init(_ context: APIContext, _ loop: Loop) {
        self.context = context
        inbox = LoopInbox(loop)
        let ids = ids
        routes = context.routes.map(Published.Copy.init)
        links = PeerLinks(loop, token: context.configuration.peerTokens.first ?? [])
        partitions = Published.Copy(context.service.partitions)
        layout = partitions.value.layout
        movedAt = [UInt64](repeating: 0, count: layout.count)
        (ready, long) = (PartitionQueues(count: layout.count), PartitionQueues(count: layout.count))
        reader = RequestReader(
            siphash: context.service.siphash, layout: layout,
            newest: { [feed = context.service.feed] in feed.newest }, zones: context.service.zones,
            makeID: ids.next)
        executor = Executor(service: context.service, layout: layout)
        access = Published.Copy(context.configuration.access)
        gate = context.gate(tokens: access.value.tokens)
        metrics = HTTPMetrics()
        heart = Heartbeat(name: "io \(loop.index)")
        socketReader = context.service.addReader { loop.askForReading() }
        context.add(metrics)
        context.service.watchdog.watch(heart)
        let inbox = inbox
        context.service.feed.observe { inbox.wake() }
        if context.routes != nil { context.service.place?.observeRoutes { inbox.wake() } }
        streams = StreamTable(
            context.service, context.newestRows, inbox,
            heartbeatMilliseconds: context.configuration.heartbeatMilliseconds
        ) { [metrics] origin, status, bytes in
            let seconds = Double(Clocks.monotonic() - origin.startedAt) / 1e9
            metrics.count(.timerWait, .get, status, seconds: seconds)
            guard context.configuration.access.value.logsRequests else { return }
            context.configuration.accessLog?(
                AccessRecord(
                    method: "GET", target: String(decoding: origin.target, as: UTF8.self), status: status,
                    bytes: bytes, seconds: seconds, peer: origin.peer,
                    requestID: String(decoding: origin.requestID, as: UTF8.self)))
        }
    }

    func admit(_ exchange: Exchange) -> Admission {
        if access.refresh() { gate = context.gate(tokens: access.value.tokens) }
        let ticket = ticket(for: exchange)
        do throws(Problem) {
            try route(ticket)
            if exchange.isFromReserve && !ticket.route.isProbe { throw .tooManyConnections }
            return .accept(bodyLimit: ticket.route.bodyLimit)
        } catch {
            refuse(error, ticket)
            return .refuse
        }
    }

    func ticket(for exchange: Exchange) -> Ticket {
        let ticket: Ticket
        if let known = exchange.context as? Ticket {
            ticket = known
        } else {
            ticket = Ticket(exchange, scratch)
            exchange.context = ticket
        }
        ticket.reset(serial: nextSerial)
        ticket.moves = moves
        nextSerial += 1
        ticket.identify(ids)
        return ticket
    }

    func handle(_ exchange: Exchange, _ answer: consuming Answer) {
        guard let ticket = exchange.context as? Ticket else { return answer.send() }
        ticket.answer = consume answer
        if exchange.method == .options { return answerOptions(ticket) }
        if let page = context.page(for: ticket) {
            do throws(Problem) {
                try QueryReader(ticket.target).finish()
                ticket.outcome = page
            } catch {
                ticket.outcome = .problem(error)
            }
            return respond(ticket)
        }
        if let refusal = context.refusal(of: ticket) {
            if refusal.kind == .ownerUnavailable && forward(ticket) { return }
            ticket.outcome = .problem(refusal)
            return respond(ticket)
        }
        begin(ticket)
    }

    /// Begins a request that this server answers itself.
    func begin(_ ticket: Ticket) {
        if ticket.route == .export { return beginExport(ticket) }
        readIdempotencyKey(ticket)
        if case .none = ticket.outcome { reader.read(ticket) }
        if case .none = ticket.operation, case .none = ticket.outcome {
            ticket.outcome = context.dynamicPage(for: ticket)
            // It rests on no partition, and there may be none.
            if !ticket.route.isAboutTimers { return respond(ticket) }
        }
        executor.prepare(ticket, makeID: ids.next)
        enqueue(ticket)
    }

    func enqueue(_ ticket: Ticket) {
        guard hasRoom(ticket) else { return }
        // A request that has begun a key goes on where the key is.
        if layout.count > 1 && !ticket.isUnderWay { ticket.partition = ticket.operation.partition(layout) }
        if ticket.operation.isLong {
            long.append(ticket, in: ticket.partition)
        } else {
            ready.append(ticket, in: ticket.partition)
        }
    }

    private var isIdle: Bool { ready.isEmpty && long.isEmpty }

    func requestsWereHandled() {
        heart.beat()
        followPartitions()
        for _ in 0..<Self.stepsPerRound where !isIdle { applyReady() }
        if !isIdle { inbox.wake() }
        tellRead()
    }

    /// Follows which partitions this process owns.
    private func followPartitions() {
        guard partitions.isBehind else { return }
        // What a partition that has gone still knew of the waiting requests.
        resolveWaiting()
        let before = partitions.value
        _ = partitions.refresh()
        moves += 1
        for number in movedAt.indices where before[number] !== partitions.value[number] { movedAt[number] = moves }
        let isWhole = before.all.allSatisfy { partitions.value[$0.number] === $0 }
        if !isWhole { streams.endAll() }
    }

    /// Whether a partition has come or gone since a request began.
    func hasMoved(_ partition: Int, since ticket: Ticket) -> Bool { movedAt[partition] > ticket.moves }

    func socketsWereRead(round: Int) {
        readRound = round
        tellRead()
    }

    /// Tells the engine once all requests read from the sockets have been carried out.
    private func tellRead() {
        guard let round = readRound, ready.isEmpty else { return }
        readRound = nil
        socketReader.tellRead(round: round)
    }

    /// Holds of the lock in one round of the loop.
    static let stepsPerRound = 8

    /// Takes one step each of the waiting requests of the partition that is next, in one hold of its lock, until the hold has
    /// cost as much as it may. At least one long request takes a step: the one that has waited longest.
    private func applyReady() {
        // In turn, so that no partition's long requests wait for another one's short ones to end.
        isLongNext.toggle()
        guard let number = isLongNext ? long.next ?? ready.next : ready.next ?? long.next else { return }
        guard let partition = partitions.value[number] else { return refuseAll(of: number) }
        var hasLong = false
        partition.engine.turn { turn in
            while !turn.isSpent, let ticket = ready.popFirst(in: number) { step(ticket, turn) }
            while !hasLong || !turn.isSpent, let ticket = long.popFirst(in: number) {
                step(ticket, turn)
                hasLong = true
            }
        }
        if layout.count > 1 {
            ready.rotate(number)
            long.rotate(number)
        }
        for ticket in applied {
            executor.prepare(ticket, makeID: ids.next)
            if ticket.isDecided { decided(ticket) } else { enqueue(ticket) }
        }
        applied.removeAll(keepingCapacity: true)
        if hasLong && !isIdle { partition.engine.letOthersIn() }
    }

    /// Refuses the requests for a partition that this process does not own.
    private func refuseAll(of partition: Int) {
        while let ticket = ready.popFirst(in: partition) ?? long.popFirst(in: partition) {
            let canMove = !ticket.mayStandInPart && !ticket.isUnderWay
            if canMove && forward(ticket) { continue }
            var problem = context.elsewhere(ticket)
            // Other partitions may have made their part of it.
            if ticket.mayStandInPart {
                problem = .elsewhere(owner: context.service.owner)
                problem.standsInPart()
            }
            ticket.outcome = .problem(problem)
            respond(ticket)
        }
    }

    private func step(_ ticket: Ticket, _ turn: borrowing Turn) {
        ticket.isDecided = turn.step { executor.step(ticket, turn) }
        applied.append(ticket)
    }

    func woken() {
        for message in inbox.take() { receive(message) }
        resolveWaiting()
        retryHeld()
        retryForwarded(now: Clocks.monotonic())
        streams.feed()
        stepExports()
        requestsWereHandled()
    }

    /// Queues a request whose operation has a further step under the lock.
    func takeAgain(_ ticket: Ticket) {
        enqueue(ticket)
        inbox.wake()
    }

    private func receive(_ message: LoopInbox.Message) {
        switch message {
        case .rows(let stream, let result):
            streams.received(result, forID: stream)
        case .storedAnswer(let serial, let result):
            guard let ticket = reading.removeValue(forKey: serial) else { return }
            receivedStoredAnswer(result, ticket)
        case .history(let serial, let history):
            guard let ticket = reading.removeValue(forKey: serial) else { return }
            receivedHistory(history, ticket)
        case .idCheck(let serial, let result):
            guard let ticket = reading.removeValue(forKey: serial) else { return }
            receivedIDCheck(result, ticket)
        case .deliveryEvents(let serial, let result):
            guard let ticket = reading.removeValue(forKey: serial) else { return }
            receivedEvents(result, ticket)
        case .exported(let export, let result):
            exports[export]?.received(result)
        }
    }

    func streamWritable(_ stream: DetachedStream) {
        if stream.context is ExportStream { return inbox.wake() }
        if let request = stream.context as? ForwardedRequest { return request.streamWritable() }
        if let stream = stream.context as? EventStream { streams.resume(stream) }
    }

    func streamClosed(_ stream: DetachedStream) {
        if let export = stream.context as? ExportStream { exports[export.id] = nil }
        if let request = stream.context as? ForwardedRequest { request.clientGone() }
        if let stream = stream.context as? EventStream { streams.remove(stream) }
    }

    func parkedClosed(_ parked: ParkedAnswer) {
        if let request = parked.context as? ForwardedRequest { request.clientGone() }
        if let stream = parked.context as? EventStream { streams.remove(stream) }
    }

    func drainBegan() {
        isDraining = true
        streams.drain()
        for request in forwarded.values { request.drain() }
        for export in exports.values { export.cancel() }
        exports = [:]
    }

    var deadline: Int64? {
        let next = min(streams.nextDeadline ?? .max, ownerless.isEmpty ? .max : nextOwnerTry)
        return next == .max ? nil : next
    }

    func deadlineCame(now: Int64) {
        if streams.nextDeadline.map({ now >= $0 }) ?? false { streams.deadlineCame(now) }
        if !ownerless.isEmpty && now >= nextOwnerTry { retryForwarded(now: now) }
    }

    func tick(now: Int64) {
        heart.beat()
        streams.retryReads()
        cutSilentExports(now: now)
        expireWaiting(now: now)
        tickForwarded(now: now)
        if !held.isEmpty { inbox.wake() }
    }
}
