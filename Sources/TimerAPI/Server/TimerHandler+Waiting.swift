import HTTPServer
import Platform
import TimerCore
import TimerService

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
        switch fate(of: ticket) {
        case .durable: mayAnswer ? respond(ticket) : refuseStopped(ticket, .leaseOver)
        case .lost: lose(ticket)
        case .unknown: answerUnknown(ticket)
        case .pending:
            ticket.waitingSince = Clocks.monotonic()
            waiting.append(ticket)
        }
    }

    /// Forwards a request that was refused because this server has lost the log to the server that owns it. Returns
    /// false for any other request.
    private func followMove(_ ticket: Ticket) -> Bool {
        guard case .problem(let problem) = ticket.outcome, problem.kind == .shuttingDown, desk != nil, !isDraining,
            !ticket.mayBePartlyApplied, !ticket.isUnderWay, context.service.log.value !== log.value
        else { return false }
        sendToOwner(ticket)
        return true
    }

    /// Returns the fate of the records that a ticket's answer rests on. An outcome that needs the store is pending
    /// until the store has what it needs.
    private func fate(of ticket: Ticket) -> Fate {
        switch ticket.outcome {
        case .needsEvents(let reading):
            // Lost events count as durable here: the store then fails to find them, which decides the outcome.
            return isStoredOrLost(reading.newest) ? .durable : .pending
        case .replay(let positions):
            // The earlier parts were not lost when they were looked up. Other records between them may be lost: they
            // are no parts of the answer.
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

    /// Returns the fate of the records of a change. After this process has lost the log, the next owner may have kept
    /// the records or not.
    private func fateOfRests(_ ticket: Ticket) -> Fate {
        guard let engine = log.value?.engine else { return ticket.rests == 0...0 ? .durable : .unknown }
        return hasMoved(since: ticket) ? engine.fateOfEarlier(ticket.rests) : engine.fate(of: ticket.rests)
    }

    /// Whether the store has the record at `position`, or it is known to be lost.
    private func isStoredOrLost(_ position: Int64) -> Bool {
        guard let engine = log.value?.engine else { return true }
        return position <= engine.shownHead || engine.isLost(position)
    }

    /// Whether this server can prove that its state is the newest.
    private var mayAnswer: Bool { context.service.role != .leaseOver }

    /// Answers a request whose change has an outcome that this process can't learn.
    private func answerUnknown(_ ticket: Ticket) {
        ticket.isRendered = false
        refuseStopped(ticket, .unknownOutcome)
    }

    private func lose(_ ticket: Ticket) {
        ticket.isRendered = false
        refuseStopped(ticket, .lost)
    }

    /// Answers the requests whose records have become durable, were lost, or have an unknown fate.
    func resolveWaiting() {
        guard !waiting.isEmpty else { return }
        swap(&waiting, &resolved)
        for ticket in resolved {
            switch fate(of: ticket) {
            case .durable: respond(ticket)
            case .lost: lose(ticket)
            case .unknown: answerUnknown(ticket)
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
            answerUnknown(ticket)
        }
        waiting = still
    }
}
