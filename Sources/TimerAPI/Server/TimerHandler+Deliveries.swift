import TimerLog
import TimerService

/// Requests about deliveries: their events are read between two steps of theirs.
extension TimerHandler {
    /// Has the next events read that a request needs.
    func read(_ events: DeliveryReading, _ ticket: Ticket) {
        reading[ticket.serial] = ticket
        let serial = ticket.serial
        let inbox = inbox
        context.service.replayer.events(of: events.piece) { inbox.post(.events(ticket: serial, $0)) }
    }

    /// Some of them have been read: the request goes on once all are.
    func received(_ result: Result<[OwedEvent?], StoreError>, _ ticket: Ticket) {
        guard case .reading(let events) = ticket.outcome else { return }
        guard case .success(let found) = result else {
            return giveUp(ticket, Problem(.storageUnavailable, "the log can't be read now"))
        }
        events.take(found)
        guard events.isRead else { return read(events, ticket) }
        ticket.outcome = .none
        takeAgain(ticket)
    }

    /// Answers a request with what kept it from its end; one that is still under way frees its idempotency key first.
    func giveUp(_ ticket: Ticket, _ problem: Problem) {
        var problem = problem
        if ticket.mayStandInPart { problem.standsInPart() }
        guard ticket.outcome.isReading && ticket.isUnderWay else {
            ticket.outcome = .problem(problem)
            return respond(ticket)
        }
        ticket.operation = .fail(problem, unlessMissing: nil)
        ticket.outcome = .none
        takeAgain(ticket)
    }
}
