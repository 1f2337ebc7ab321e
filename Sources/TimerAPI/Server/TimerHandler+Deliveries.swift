import TimerLog
import TimerService

/// Requests about deliveries: their events are read between two steps of theirs.
extension TimerHandler {
    /// Has the next events read that a request needs.
    func readEvents(_ events: DeliveryEventReading, _ ticket: Ticket) {
        reading[ticket.serial] = ticket
        let serial = ticket.serial
        let inbox = inbox
        context.service.replayer.events(of: events.piece) { inbox.post(.deliveryEvents(ticket: serial, $0)) }
    }

    /// Some of them have been read: the request goes on once all are.
    func receivedEvents(_ result: Result<[OwedEvent?], StoreError>, _ ticket: Ticket) {
        guard case .needsEvents(let events) = ticket.outcome else { return }
        guard case .success(let found) = result else {
            return giveUp(ticket, Problem(.storageUnavailable, "the log can't be read now"))
        }
        events.take(found)
        guard events.isRead else { return readEvents(events, ticket) }
        ticket.outcome = .none
        takeAgain(ticket)
    }

    /// Answers a request with what kept it from its end; one that is still under way frees its idempotency key first.
    func giveUp(_ ticket: Ticket, _ problem: Problem) {
        var problem = problem
        if ticket.mayStandInPart { problem.standsInPart() }
        guard ticket.outcome.needsStore && ticket.isUnderWay else {
            ticket.outcome = .problem(problem)
            return respond(ticket)
        }
        ticket.operation = .fail(problem, unlessMissing: nil)
        ticket.outcome = .none
        takeAgain(ticket)
    }
}
