import TimerCore
import TimerService

/// Operations on deliveries.
extension Executor {
    /// Takes one step. Returns whether the step set the ticket's outcome: a final one, or one that
    /// needs the store first.
    func perform(
        _ operation: DeliveryOperation, _ ticket: Ticket, _ turn: borrowing Turn
    ) throws(ServiceError) -> Bool {
        let outcome: Outcome?
        switch operation {
        case .fail(let problem, let id):
            outcome = .problem(turn.delivery(id.position) == nil ? .noDelivery : problem)
        case .one(let run):
            outcome = try run.step(turn)
        case .list(let run):
            outcome = Self.outcome(of: run.step(turn), .deliveries(run))
        case .redrive(let run):
            defer { ticket.mayBePartlyApplied = !run.isDry && run.counts.changed > 0 }
            outcome = Self.outcome(of: try run.step(turn), .bulk(run.counts))
        }
        ticket.rest(on: turn.head)
        guard let outcome else { return false }
        ticket.outcome = outcome
        return true
    }

    private static func outcome(of step: DeliveryStep, _ end: @autoclosure () -> Outcome) -> Outcome? {
        switch step {
        case .more: nil
        case .needsEvents(let reading): .needsEvents(reading)
        case .done: end()
        }
    }
}
