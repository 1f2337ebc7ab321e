import HTTPServer
import Platform
import TimerCore
import TimerService

/// Requests that wait: for room among the answers under way, or for the disk.
extension TimerHandler {
    /// Whether there is memory for the answer of a request that has not begun, beside the answers under way. A request
    /// without waits for it, and is refused after a while.
    func hasRoom(_ ticket: Ticket) -> Bool {
        guard !ticket.hasRoom else { return true }
        let bytes = ticket.operation.mostAnswerBytes
        ticket.hasRoom = bytes == 0 || ticket.exchange.reserveAnswer(bytes)
        if ticket.hasRoom { return true }
        ticket.outcome = .problem(.tooManyAnswers)
        if !hold(ticket) { respond(ticket) }
        return false
    }

    /// Keeps a request that was refused as overload, to try it again, unless it has waited too long already.
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

    /// Sends the answer of a request whose outcome is known, or has it wait for the disk.
    func decided(_ ticket: Ticket) {
        if hold(ticket) || followMove(ticket) { return }
        if let bytes = ticket.outcome.answerBytes {
            ticket.exchange.trimAnswer(to: bytes)
            if !held.isEmpty { inbox.wake() }
        }
        switch fate(of: ticket) {
        case .durable: mayShow ? respond(ticket) : giveUp(ticket, .leaseOver)
        case .lost: lose(ticket)
        case .unknown: loseSight(of: ticket)
        case .pending:
            ticket.waitingSince = Clocks.monotonic()
            waiting.append(ticket)
        }
    }

    /// Sends a request that came to a log which this server no longer owns to the server that does.
    private func followMove(_ ticket: Ticket) -> Bool {
        guard case .problem(let problem) = ticket.outcome, problem.kind == .shuttingDown, desk != nil, !isDraining,
            !ticket.mayStandInPart, !ticket.isUnderWay, context.service.log.value !== log.value
        else { return false }
        sendElsewhere(ticket)
        return true
    }

    /// What became of the records that a ticket's answer rests on. An outcome that needs the store waits until the store has
    /// what it needs.
    private func fate(of ticket: Ticket) -> Fate {
        switch ticket.outcome {
        case .needsEvents(let reading):
            // If the events are lost, the request is told so once the store has not found them.
            return isThere(reading.newest) ? .durable : .pending
        case .replay(let positions):
            // The earlier parts stood when they were looked up. Other records between them may be lost: not parts of the answer.
            guard let newest = positions.max() else { return fateOfRests(ticket) }
            guard let engine = log.value?.engine else { return .unknown }
            if newest <= engine.shownHead { return engine.fate(of: newest) }
            return engine.isLost(newest) ? .lost : engine.fateOfShown(newest...newest)
        case .stream:
            guard let engine = log.value?.engine else { return .unknown }
            if hasMoved(since: ticket), engine.fateOfEarlier(ticket.rests) == .unknown { return .unknown }
            return engine.fateOfShown(ticket.rests)
        default:
            return fateOfRests(ticket)
        }
    }

    /// What became of the records of a change. What another process goes on with may stand or not.
    private func fateOfRests(_ ticket: Ticket) -> Fate {
        guard let engine = log.value?.engine else { return ticket.rests == 0...0 ? .durable : .unknown }
        return hasMoved(since: ticket) ? engine.fateOfEarlier(ticket.rests) : engine.fate(of: ticket.rests)
    }

    /// Whether the store has the record at `position`, or it is known to be lost.
    private func isThere(_ position: Int64) -> Bool {
        guard let engine = log.value?.engine else { return true }
        return position <= engine.shownHead || engine.isLost(position)
    }

    /// Whether this server can prove that what it holds is the newest.
    private var mayShow: Bool { context.service.standing != .leaseOver }

    /// Answers a request whose change this process won't hear of any more.
    private func loseSight(of ticket: Ticket) {
        ticket.isRendered = false
        giveUp(ticket, .unknownOutcome)
    }

    private func lose(_ ticket: Ticket) {
        ticket.isRendered = false
        giveUp(ticket, .lost)
    }

    /// Answers the requests whose records have become durable, or were lost.
    func resolveWaiting() {
        guard !waiting.isEmpty else { return }
        swap(&waiting, &resolved)
        for ticket in resolved {
            switch fate(of: ticket) {
            case .durable: respond(ticket)
            case .lost: lose(ticket)
            case .unknown: loseSight(of: ticket)
            case .pending: waiting.append(ticket)
            }
        }
        resolved.removeAll(keepingCapacity: true)
    }

    /// Answers the requests that have waited too long for the disk: their outcome is unknown.
    func expireWaiting(now: Int64) {
        var still: [Ticket] = []
        for ticket in waiting {
            guard now - ticket.waitingSince > APILimits.longestCommit else {
                still.append(ticket)
                continue
            }
            loseSight(of: ticket)
        }
        waiting = still
    }
}
