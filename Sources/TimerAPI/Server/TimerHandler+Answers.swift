package import HTTPServer
import Platform
import TimerCore
import TimerLog
import TimerService

/// Fills and sends answers: refusals at the head of a request, and outcomes.
extension TimerHandler {
    /// Fills the response of a request that is refused at its head.
    func refuse(_ problem: Problem, _ ticket: Ticket) {
        ticket.beginResponse()
        if let allow = problem.allow { ticket.exchange.response.add("Allow", allow) }
        Renderer.fill(problem, ticket)
        note(ticket)
    }

    package func renderRefusal(_ refusal: Refusal, into exchange: Exchange) {
        if case .internalError = refusal {
            // The exchange's ticket may not be used: its answer is being destroyed.
            let requestID = ids.next()
            exchange.response.reset()
            exchange.response.add("Request-Id", requestID)
            return Renderer.fill(Problem(refusal), exchange, requestID: requestID)
        }
        refuse(Problem(refusal), ticket(for: exchange))
    }

    func answerOptions(_ ticket: Ticket) {
        ticket.beginResponse()
        ticket.exchange.response.status = 204
        let isWhole = ticket.exchange.target == [UInt8(ascii: "*")]
        ticket.exchange.response.add(
            "Allow", isWhole ? "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS" : ticket.route.allow)
        send(ticket)
    }

    /// Answers a ticket whose outcome is final, or first reads from the store what the outcome needs.
    func respond(_ ticket: Ticket) {
        switch ticket.outcome {
        case .stream(let plan): beginStream(plan, ticket)
        case .needsEvents(let reading): readEvents(reading, ticket)
        case .webhookTest: testWebhook(ticket)
        case .handOver(let url): handOver(to: url, ticket)
        case .replay(let positions): readStoredAnswer(at: positions, ticket)
        default:
            Renderer.render(ticket)
            send(ticket)
        }
    }

    /// Answers a ticket with a problem.
    func respond(_ ticket: Ticket, with problem: Problem) {
        ticket.outcome = .problem(problem)
        respond(ticket)
    }

    /// Counts a request of many steps no more, as it ends here.
    func endRun(_ ticket: Ticket) {
        guard ticket.isRun else { return }
        ticket.isRun = false
        context.service.runs.end()
    }

    /// Sends the response, or a refusal in its place if there is no memory for it and nothing was changed.
    func send(_ ticket: Ticket) {
        endRun(ticket)
        if let opened = ticket.opened.take() { return end(opened, ticket) }
        guard let answer = ticket.answer.take() else { return }
        if !ticket.exchange.reserveAnswer(ticket.exchange.response.body.count), ticket.mayBeRefused {
            ticket.beginResponse()
            Renderer.fill(.tooManyAnswers, ticket)
        }
        ticket.releaseMemory()
        note(ticket)
        answer.send()
    }

    /// Counts an answer, and writes it to the logs.
    package func note(_ ticket: Ticket) {
        let exchange = ticket.exchange
        metrics.count(
            ticket.isRouted ? ticket.route : nil, exchange.method, exchange.response.status, seconds: exchange.seconds)
        if gatekeeper.access.value.logsRequests { context.configuration.accessLog?(AccessRecord(ticket)) }
        if let audit = context.configuration.audit, let record = AuditRecord(ticket) { audit.note(record) }
    }

    /// Writes to the audit log a request whose client has disconnected while another server carried the request out.
    package func noteAbandoned(_ ticket: Ticket) {
        if let audit = context.configuration.audit, let record = AuditRecord(abandoned: ticket) { audit.note(record) }
    }
}

/// Requests that wait for memory for their answers, or for the disk.
extension TimerHandler {
    /// Reserves memory for the answer of a request that has not begun, besides the answers under way. Returns false
    /// if there is none: the request then waits for it, and is refused after `longestOverload`.
    func hasRoom(_ ticket: Ticket) -> Bool {
        guard !ticket.hasRoom else { return true }
        let bytes = ticket.operation.mostAnswerBytes
        ticket.hasRoom = bytes == 0 || ticket.exchange.reserveAnswer(bytes)
        if ticket.hasRoom { return true }
        ticket.outcome = .problem(.tooManyAnswers)
        if !hold(ticket) { respond(ticket) }
        return false
    }

    /// Keeps a request that was refused as overload for another try. Returns false for any other outcome, while the
    /// server drains, and once the request has waited for `longestOverload`.
    private func hold(_ ticket: Ticket) -> Bool {
        guard case .problem(let problem) = ticket.outcome, problem.kind == .overloaded, !isDraining,
            Clocks.monotonic() - ticket.exchange.startedAt < APILimits.longestOverload
        else { return false }
        ticket.outcome = .none
        ticket.attempts = 0
        held.append(ticket)
        return true
    }

    /// Tries the held requests again.
    func retryHeld() {
        let again = held
        held.removeAll(keepingCapacity: true)
        for ticket in again { enqueue(ticket) }
    }

    /// Sends the answer of a request whose outcome is known, or makes the request wait for the disk.
    func decided(_ ticket: Ticket) {
        if hold(ticket) || followMove(ticket) { return }
        if let bytes = ticket.outcome.answerBytes {
            ticket.exchange.trimAnswer(to: bytes)
            if !held.isEmpty { inbox.wake() }
        }
        switch ticket.fate(in: log.value?.engine, hasMoved: hasMoved(since: ticket)) {
        case .durable: mayAnswer ? respond(ticket) : refuseStopped(ticket, .leaseOver)
        case .lost: void(ticket, .lost)
        case .unknown: void(ticket, .unknownOutcome)
        case .pending:
            ticket.waitingSince = Clocks.monotonic()
            waiting.append(ticket)
        }
    }

    /// Forwards a request that was refused because this server has lost the log, or hands it over, to the server that owns
    /// it. Returns false for any other request.
    private func followMove(_ ticket: Ticket) -> Bool {
        guard case .problem(let problem) = ticket.outcome, problem.kind == .shuttingDown, desk != nil, !isDraining,
            !ticket.mayBePartlyApplied, !ticket.isUnderWay,
            context.service.role != .serving || context.service.log.value !== log.value
        else { return false }
        sendToOwner(ticket)
        return true
    }

    /// Whether this server can prove that its state is the newest.
    private var mayAnswer: Bool { context.service.role != .leaseOver }

    /// Answers a request with the problem in place of its outcome, which is lost, or which this process can't learn.
    private func void(_ ticket: Ticket, _ problem: Problem) {
        ticket.isRendered = false
        refuseStopped(ticket, problem)
    }

    /// Answers the requests whose records have become durable, were lost, or have an unknown fate.
    func resolveWaiting() {
        guard !waiting.isEmpty else { return }
        swap(&waiting, &resolved)
        for ticket in resolved {
            switch ticket.fate(in: log.value?.engine, hasMoved: hasMoved(since: ticket)) {
            case .durable: respond(ticket)
            case .lost: void(ticket, .lost)
            case .unknown: void(ticket, .unknownOutcome)
            case .pending: waiting.append(ticket)
            }
        }
        resolved.removeAll(keepingCapacity: true)
    }

    /// Answers the requests that have waited too long for the disk: their outcome is unknown.
    func expireWaiting(now: Int64) {
        let isLate: (Ticket) -> Bool = { now - $0.waitingSince > APILimits.longestCommit }
        let late = waiting.filter(isLate)
        waiting.removeAll(where: isLate)
        for ticket in late { void(ticket, .unknownOutcome) }
    }
}

/// The stored answers that repeated requests get.
extension TimerHandler {
    /// Reads the stored answer that a repeated request gets, or continues from: from memory, or by
    /// the replay threads.
    func readStoredAnswer(at positions: [Int64], _ ticket: Ticket) {
        if positions.count == 1, let row = context.service.feed.row(holding: positions[0]) {
            return receivedStoredAnswer(.success([RowRecords(row).answer(at: positions[0])]), ticket)
        }
        let (serial, inbox) = awaitStore(ticket)
        context.service.replayer.answers(at: positions) { inbox.post(.storedAnswer(ticket: serial, $0)) }
    }

    /// Continues a request with the stored answer that was read.
    func receivedStoredAnswer(_ result: Result<[StoredAnswer?], StoreError>, _ ticket: Ticket) {
        guard case .replay(let positions) = ticket.outcome else { return }
        let unreadable = Problem(.storageUnavailable, "the stored answer can't be read now")
        guard case .success(let found) = result else { return refuseStopped(ticket, unreadable) }
        let answers = found.compactMap { $0 }
        guard answers.count == found.count else {
            return lookUpAgain(ticket) ? decided(ticket) : refuseStopped(ticket, unreadable)
        }
        guard ticket.isUnderWay, let run = ticket.operation.partedRun else {
            guard Replay.fill(answers, ticket) else { return refuseStopped(ticket, unreadable) }
            return respond(ticket)
        }
        guard run.resume(behind: answers.map(\.answer)) else { return refuseStopped(ticket, unreadable) }
        ticket.newestPart = positions.last ?? 0
        ticket.outcome = .none
        ticket.attempts = 0
        // The parts are durable, since they were read from rows that were committed.
        ticket.restOnNothing()
        executor.prepare(ticket, makeID: ids.next)
        takeAgain(ticket)
    }

    /// Looks up the positions of the stored answer again: compaction may have moved it before it was read. Returns
    /// whether there is one to be read.
    private func lookUpAgain(_ ticket: Ticket) -> Bool {
        guard let key = ticket.idempotency?.key, ticket.attempts < Self.mostLooks, let engine = log.value?.engine else {
            return false
        }
        ticket.attempts += 1
        let positions = engine.turn { turn in turn.positions(of: key) }
        ticket.outcome = .replay(positions)
        return !positions.isEmpty
    }

    /// The most times that an answer is looked up again because it was moved between the look-up and the read.
    private static let mostLooks = 4
}

/// Requests about deliveries: the events are read from the store between two steps under the lock.
extension TimerHandler {
    /// Asks the replay threads for the next events that a request needs.
    func readEvents(_ events: DeliveryEventReading, _ ticket: Ticket) {
        let (serial, inbox) = awaitStore(ticket)
        context.service.replayer.events(of: events.piece, withWebhooks: events.needsWebhooks) {
            inbox.post(.deliveryEvents(ticket: serial, $0))
        }
    }

    /// Takes events that were read. The request goes on once all have been read.
    func receivedEvents(_ result: Result<[OwedEvent?], StoreError>, _ ticket: Ticket) {
        guard case .needsEvents(let events) = ticket.outcome else { return }
        guard case .success(let found) = result else {
            return refuseStopped(ticket, Problem(.storageUnavailable, "the log can't be read now"))
        }
        events.take(found)
        guard events.isRead else { return readEvents(events, ticket) }
        ticket.outcome = .none
        takeAgain(ticket)
    }

    /// Answers a request with the problem that stopped it. A request that is still under way first releases its
    /// idempotency key.
    func refuseStopped(_ ticket: Ticket, _ problem: Problem) {
        var problem = problem
        if ticket.mayBePartlyApplied { problem.markPartlyApplied() }
        guard ticket.outcome.needsStore && ticket.isUnderWay else {
            return respond(ticket, with: problem)
        }
        ticket.operation = .fail(problem, unlessMissing: nil)
        ticket.outcome = .none
        takeAgain(ticket)
    }
}
