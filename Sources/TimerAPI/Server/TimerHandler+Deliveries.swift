import TimerLog
import TimerService

/// Requests about deliveries: the events are read from the store between two steps under the lock.
extension TimerHandler {
    /// Asks the replay threads for the next events that a request needs.
    func readEvents(_ events: DeliveryEventReading, _ ticket: Ticket) {
        reading[ticket.serial] = ticket
        let serial = ticket.serial
        let inbox = inbox
        context.service.replayer.events(of: events.piece) { inbox.post(.deliveryEvents(ticket: serial, $0)) }
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
            ticket.outcome = .problem(problem)
            return respond(ticket)
        }
        ticket.operation = .fail(problem, unlessMissing: nil)
        ticket.outcome = .none
        takeAgain(ticket)
    }
}
