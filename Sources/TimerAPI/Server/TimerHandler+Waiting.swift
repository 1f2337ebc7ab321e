import HTTPServer
import Platform
import TimerService

/// Requests that wait: for room among the answers under way, or for the disk.
extension TimerHandler {
    /// Whether the answer to a request that is not begun yet has room beside those under way. One without waits a while
    /// and is refused then.
    func hasRoom(_ ticket: Ticket) -> Bool {
        guard !ticket.hasRoom else { return true }
        let bytes = ticket.operation.mostAnswerBytes
        ticket.hasRoom = bytes == 0 || ticket.exchange.reserveAnswer(bytes)
        if ticket.hasRoom { return true }
        ticket.outcome = .problem(.tooManyAnswers)
        if !hold(ticket) { respond(ticket) }
        return false
    }

    /// Keeps a request that was refused as overload, to be tried again, unless it has waited long enough.
    private func hold(_ ticket: Ticket) -> Bool {
        guard case .problem(let problem) = ticket.outcome, problem.kind == .overloaded, !isDraining,
            Clocks.monotonic() - ticket.exchange.startedAt < APILimits.longestOverload
        else { return false }
        ticket.outcome = .none
        ticket.attempts = 0
        held.append(ticket)
        return true
    }

    /// Tries again the requests that wait until fewer records wait for the disk, or until there is room for their answers.
    func retryHeld() {
        let again = held
        held.removeAll(keepingCapacity: true)
        for ticket in again { enqueue(ticket) }
    }

    /// An outcome is known: the answer leaves, or waits for the disk.
    func decided(_ ticket: Ticket) {
        if hold(ticket) { return }
        if let bytes = ticket.outcome.answerBytes {
            ticket.exchange.trimAnswer(to: bytes)
            if !held.isEmpty { inbox.wake() }
        }
        switch fate(of: ticket) {
        case .durable: respond(ticket)
        case .lost: lose(ticket)
        case .pending:
            ticket.waitingSince = Clocks.monotonic()
            waiting.append(ticket)
        }
    }

    /// What became of what a ticket's answer rests on. A stored answer must be in the store to be read.
    private func fate(of ticket: Ticket) -> Fate {
        let engine = context.service.engine
        if case .needsEvents(let reading) = ticket.outcome {
            // What is lost is told once it was looked for in vain.
            let isThere = reading.newest <= engine.shownHead || engine.isLost(reading.newest)
            return isThere ? .durable : .pending
        }
        if case .replay(let positions) = ticket.outcome, let newest = positions.max() {
            // Those before it stood when they were looked up; what was lost between them is none of theirs.
            if newest <= engine.shownHead { return engine.fate(of: newest) }
            return engine.isLost(newest) ? .lost : .pending
        }
        if case .stream = ticket.outcome { return engine.fateOfShown(ticket.rests) }
        return engine.fate(of: ticket.rests)
    }

    private func lose(_ ticket: Ticket) {
        ticket.isRendered = false
        giveUp(ticket, .lost)
    }

    func resolveWaiting() {
        guard !waiting.isEmpty else { return }
        swap(&waiting, &resolved)
        for ticket in resolved {
            switch fate(of: ticket) {
            case .durable: respond(ticket)
            case .lost: lose(ticket)
            case .pending: waiting.append(ticket)
            }
        }
        resolved.removeAll(keepingCapacity: true)
    }

    /// Tells the clients of answers that have waited too long for the disk that their outcome is unknown.
    func expireWaiting(now: Int64) {
        var still: [Ticket] = []
        for ticket in waiting {
            guard now - ticket.waitingSince > APILimits.longestCommit else {
                still.append(ticket)
                continue
            }
            ticket.isRendered = false
            giveUp(ticket, .unknownOutcome)
        }
        waiting = still
    }
}
