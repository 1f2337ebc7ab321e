import TimerService

/// Drains and imports, step by step.
extension Executor {
    func move(_ ticket: Ticket, _ turn: borrowing Turn) throws(ServiceError) -> Bool {
        defer { ticket.rest(on: turn.head) }
        switch ticket.operation {
        case .drain(let run):
            ticket.mayStandInPart = run.partition > 0
            guard try run.step(turn) else { return false }
            ticket.outcome = run.outcome
        case .importPart(let run):
            defer { ticket.mayStandInPart = run.hasChanged }
            // The part can't go on behind lines that were lost.
            if turn.isLost(ticket.rests.positions(in: ticket.partition)) { throw .storageUnavailable }
            guard try run.step(turn) else { return false }
            ticket.outcome = run.problem.map { .problem($0) } ?? run.outcome
        case .importState(let run):
            guard run.step(turn) else { return false }
            ticket.outcome = run.outcome
        default: break
        }
        return true
    }
}
