package import HTTPServer
import Platform
import Synchronization
import TimerCore
import TimerLog
import TimerService
import WireJSON

/// Answers the requests of one I/O loop.
///
/// The requests of one round of the loop are gathered and applied in one hold of the engine's lock. An answer is sent
/// once the records that it rests on are durable.
package final class TimerHandler: LoopHandler {
    let context: APIContext
    let inbox: LoopInbox
    let reader: RequestReader
    let executor: Executor
    let ids = IDSource()
    private let scratch = Scratch()
    let gatekeeper: Gatekeeper
    let metrics: HTTPMetrics
    private let heart: Heartbeat
    private let socketReader: SocketReader
    /// The round of reading the sockets whose requests have not all been carried out yet.
    private var readRound: Int?
    private(set) var streams: StreamTable!
    /// The log; nil unless this process owns it.
    private(set) var log: Published<ActiveLog?>.Copy
    /// The number of times that this process has gained or lost the log.
    private var moves: UInt64 = 0
    /// Requests that wait for a step under the lock: short ones, which take one step or a few, and long ones.
    private var ready = StepQueue<Ticket>()
    private var long = StepQueue<Ticket>()
    /// Requests that took a step in this hold of the lock.
    private var applied: [Ticket] = []
    /// Requests whose answers wait for the disk; `resolved` holds them while they are examined.
    var waiting: [Ticket] = []
    var resolved: [Ticket] = []
    /// Requests that were refused as overload and wait for their next try.
    var held: [Ticket] = []
    /// Requests that wait for the store to be read.
    var reading: [UInt64: Ticket] = [:]
    /// Requests whose answers are parked until another thread has done its work.
    var parked: [UInt64: (ticket: Ticket, answer: ParkedAnswer)] = [:]
    /// Exports under way.
    let exports: ExportTable
    /// The desk for what another server answers; nil where this server forwards nothing.
    private(set) var desk: (any RequestDesk)?
    private var nextSerial: UInt64 = 1
    private(set) var isDraining = false
    private var sequence = RequestSequence()
    private var busyCommits: BusyCommits

    init(_ context: APIContext, _ loop: Loop) {
        self.context = context
        inbox = LoopInbox(loop)
        let ids = ids
        exports = ExportTable(inbox)
        log = Published.Copy(context.service.log)
        reader = RequestReader(
            siphash: context.service.siphash, zones: context.service.zones,
            signsByDefault: { [service = context.service] in service.signsByDefault }, makeID: ids.next)
        executor = Executor(service: context.service)
        busyCommits = BusyCommits(interval: context.configuration.commitInterval)
        gatekeeper = Gatekeeper(context)
        metrics = HTTPMetrics()
        heart = Heartbeat(name: "io \(loop.index)")
        socketReader = context.service.addReader { loop.askForReading() }
        context.add(metrics)
        context.service.watchdog.watch(heart)
        let inbox = inbox
        context.service.feed.observe { inbox.wake() }
        streams = StreamTable(
            context.service, context.newestRows, inbox,
            heartbeatMilliseconds: context.configuration.heartbeatMilliseconds
        ) { [metrics] origin, status, bytes in
            let seconds = Double(Clocks.monotonic() - origin.startedAt) / 1e9
            metrics.count(.timerWait, .get, status, seconds: seconds)
            context.configuration.log(origin, status: status, bytes: bytes, seconds: seconds)
            if let audit = context.configuration.audit, let record = AuditRecord(origin, status: status) {
                audit.note(record)
            }
        }
    }

    /// Sets the desk, before it serves.
    func forward(by desk: (any RequestDesk)?) { self.desk = desk }

    package func admit(_ exchange: Exchange) -> Admission {
        if gatekeeper.follow() { inbox.wake() }
        sequence.asked(
            over: ObjectIdentifier(exchange), at: exchange.startedAt, isBesideOthers: !isIdle || !waiting.isEmpty)
        let ticket = ticket(for: exchange)
        do throws(Problem) {
            try Routing.route(ticket, through: gatekeeper.gate)
            gatekeeper.noteUse(of: ticket)
            if exchange.isFromReserve && !ticket.route.isProbe { throw .tooManyConnections }
            return .accept(bodyLimit: ticket.route.bodyLimit)
        } catch {
            refuse(error, ticket)
            return .refuse
        }
    }

    /// Whether the path names a thing that may be absent, which comes before the size of the body.
    package func handlesTooLarge(_ exchange: Exchange) -> Bool {
        guard let ticket = exchange.context as? Ticket else { return false }
        switch exchange.method {
        case .post, .patch, .delete: return ticket.route.isOfOneThing
        default: return false
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

    package func handle(_ exchange: Exchange, _ answer: consuming Answer) {
        guard let ticket = exchange.context as? Ticket else { return answer.send() }
        ticket.answer = consume answer
        if exchange.method == .options { return answerOptions(ticket) }
        if let page = context.page(for: ticket) {
            ticket.outcome = page
            return respond(ticket)
        }
        do throws(Problem) { try context.checkRole(ticket) } catch {
            if error.kind == .ownerUnavailable && forward(ticket) { return }
            return respond(ticket, with: error)
        }
        begin(ticket)
    }

    /// Begins a request that this server answers itself.
    func begin(_ ticket: Ticket) {
        do throws(Problem) { try gatekeeper.judgeUnproved(ticket) } catch { return respond(ticket, with: error) }
        if ticket.route == .export { return beginExport(ticket) }
        reader.readIdempotencyKey(ticket)
        reader.readTrace(ticket)
        if case .none = ticket.outcome { reader.read(ticket) }
        if case .none = ticket.operation, case .none = ticket.outcome {
            ticket.outcome = context.dynamicPage(for: ticket)
            // The page does not need the log, which another process may own.
            if !ticket.route.isAboutTimers { return respond(ticket) }
        }
        executor.prepare(ticket, makeID: ids.next)
        enqueue(ticket)
    }

    func enqueue(_ ticket: Ticket) {
        guard hasRoom(ticket) else { return }
        if ticket.operation.isLong { long.append(ticket) } else { ready.append(ticket) }
    }

    private var isIdle: Bool { ready.isEmpty && long.isEmpty }

    package func requestsWereHandled() {
        heart.beat()
        followLog()
        if !isIdle { applyReady() }
        let end = isIdle ? 0 : Clocks.monotonic() + Self.longestRound
        for _ in 1..<Self.stepsPerRound where !isIdle && Clocks.monotonic() < end { applyReady() }
        if busyCommits.isDue(isIdle: isIdle, at: Clocks.monotonic()) { context.service.commit(leads: false) }
        if !isIdle { inbox.wake() }
        reportRead()
    }

    /// Carries a request out once more, from its beginning.
    func restart(_ ticket: Ticket) {
        ticket.restart(moves: moves)
        begin(ticket)
        inbox.wake()
    }

    /// Takes note of the log that this process has gained or lost.
    private func followLog() {
        guard log.isStale else { return }
        // The removed log has reported outcomes for requests that still wait.
        resolveWaiting()
        let before = log.value
        _ = log.refresh()
        guard before !== log.value else { return }
        moves += 1
        guard before != nil else { return }
        streams.endAll { ticket in sendToOwner(ticket) }
        // A run may hold places in the memory of the removed log.
        sendAllToOwner()
    }

    /// Whether this process has gained or lost the log since a request began.
    func hasMoved(since ticket: Ticket) -> Bool { moves > ticket.moves }

    package func socketsWereRead(round: Int) {
        readRound = round
        reportRead()
    }

    /// Reports a round of reading to the engine once all requests that were read have been carried out.
    private func reportRead() {
        guard let round = readRound, ready.isEmpty else { return }
        readRound = nil
        socketReader.reportRead(round: round)
    }

    /// The most holds of the lock in one round of the loop, and the nanoseconds after which it begins no further one.
    private static let stepsPerRound = 8
    private static let longestRound: Int64 = 2_000_000

    /// Takes one step each of the waiting requests in one hold of the lock, until the hold has cost as much as it
    /// may. At least one long request takes a step: the one that has waited longest.
    private func applyReady() {
        guard let engine = log.value?.engine else { return sendAllToOwner() }
        var hasLong = false
        // With a stream or an export the loop has more to do than to wait for the disk.
        let leads = sequence.isEstablished && long.isEmpty && streams.isEmpty && exports.isEmpty
        engine.turn(waking: leads ? .byCaller : .forAnswers) { turn in
            while !turn.isSpent, let ticket = ready.popFirst() { step(ticket, turn) }
            while !hasLong || !turn.isSpent, let ticket = long.popFirst() {
                step(ticket, turn)
                hasLong = true
            }
        }
        for ticket in applied {
            executor.prepare(ticket, makeID: ids.next)
            if ticket.isDecided { decided(ticket) } else { enqueue(ticket) }
        }
        applied.removeAll(keepingCapacity: true)
        if leads {
            context.service.commit(leads: true, amongMany: sequence.isOfMany)
            sequence.led(until: Clocks.monotonic())
            resolveWaiting()
        }
        if hasLong && !isIdle { engine.yieldLock() }
    }

    /// Sends every waiting request to the server that owns the log, or refuses it.
    private func sendAllToOwner() {
        while let ticket = ready.popFirst() ?? long.popFirst() {
            guard ticket.mayBePartlyApplied else {
                sendToOwner(ticket)
                continue
            }
            // Earlier steps have made changes.
            var problem = Problem.elsewhere(owner: context.service.owner)
            problem.markPartlyApplied()
            respond(ticket, with: problem)
        }
    }

    /// Sends a request that changed nothing to the server that owns the log, or refuses it.
    func sendToOwner(_ ticket: Ticket) {
        endRun(ticket)
        if !ticket.isUnderWay && forward(ticket) { return }
        respond(ticket, with: context.elsewhere(ticket))
    }

    private func step(_ ticket: Ticket, _ turn: borrowing Turn) {
        if ticket.operation.isLong && !ticket.isRun {
            ticket.isRun = true
            context.service.runs.begin()
        }
        ticket.isDecided = turn.step(by: ticket.principal.actor, tracing: ticket.trace) { executor.step(ticket, turn) }
        applied.append(ticket)
    }

    package func woken() {
        _ = gatekeeper.follow()
        endWithoutAccess()
        for message in inbox.take() { receive(message) }
        resolveWaiting()
        retryHeld()
        desk?.retry(now: Clocks.monotonic())
        streams.feed()
        exports.step()
        requestsWereHandled()
    }

    /// Queues a request whose operation has a further step under the lock.
    func takeAgain(_ ticket: Ticket) {
        enqueue(ticket)
        inbox.wake()
    }

    /// Keeps a request until the store has been read for it. Returns what the reader's message needs.
    func awaitStore(_ ticket: Ticket) -> (serial: UInt64, inbox: LoopInbox) {
        reading[ticket.serial] = ticket
        return (ticket.serial, inbox)
    }

    private func receive(_ message: LoopInbox.Message) {
        switch message {
        case .rows(let stream, let result):
            streams.received(result, forID: stream)
        case .storedAnswer(let serial, let result):
            if let ticket = reading.removeValue(forKey: serial) { receivedStoredAnswer(result, ticket) }
        case .history(let serial, let history):
            if let ticket = reading.removeValue(forKey: serial) { receivedHistory(history, ticket) }
        case .idCheck(let serial, let result):
            if let ticket = reading.removeValue(forKey: serial) { receivedIDCheck(result, ticket) }
        case .probe(let serial, let hasEvent):
            if let ticket = reading.removeValue(forKey: serial) { receivedProbe(hasEvent: hasEvent, ticket) }
        case .deliveryEvents(let serial, let result):
            if let ticket = reading.removeValue(forKey: serial) { receivedEvents(result, ticket) }
        case .webhookTest(let serial, let end): answerParked(serial) { _ in Self.outcome(of: end) }
        case .handOver(let serial, let end): answerParked(serial) { outcome(of: end, $0) }
        case .exported(let export, let result):
            exports.received(result, forID: export)
        }
    }

    /// Ends the streams, long polls and exports of clients whose credentials have ended.
    private func endWithoutAccess() {
        guard let stillTakes = gatekeeper.judgement() else { return }
        streams.end { !stillTakes($0) }
        exports.end { !stillTakes($0) }
        desk?.end { !($0.credential.map(stillTakes) ?? true) }
    }

    package func drainBegan() {
        isDraining = true
        streams.drain()
        desk?.drain()
        exports.drain()
    }

    package var deadline: Int64? {
        let next = min(streams.nextDeadline ?? .max, desk?.deadline ?? .max)
        return next == .max ? nil : next
    }

    package func deadlineCame(now: Int64) {
        if streams.nextDeadline.map({ now >= $0 }) ?? false { streams.deadlineCame(now) }
        if let desk, desk.deadline.map({ now >= $0 }) ?? false { desk.retry(now: now) }
    }

    package func rest(now: Int64) -> Int64 {
        guard held.isEmpty else { return now }
        let until = context.history.nextAt
        heart.rest(until: until)
        return until
    }

    package func tick(now: Int64) {
        heart.beat()
        context.history.tick(context, now: now)
        gatekeeper.tick()
        endWithoutAccess()
        streams.retryReads()
        exports.cutSilent(now: now)
        expireWaiting(now: now)
        desk?.tick(now: now)
        if !held.isEmpty { inbox.wake() }
    }
}
