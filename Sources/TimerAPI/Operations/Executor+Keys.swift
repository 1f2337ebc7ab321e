import TimerCore
import TimerLog
import TimerService

/// Requests with an idempotency key.
extension Executor {
    /// Looks the idempotency key up. Returns whether the request is to be carried out; if not, its outcome is set.
    func begin(
        _ ticket: Ticket, _ request: IdempotentRequest, _ turn: borrowing Turn
    ) throws(ServiceError) -> Bool {
        switch try turn.begin(request, isDrain: ticket.route == .drain) {
        case .fresh:
            ticket.isUnderWay = true
            if ticket.newestPart != 0 {
                // The parts that this request wrote before are no longer stored.
                _ = ticket.operation.partedRun?.resume(behind: [])
                ticket.newestPart = 0
                ticket.restOnNothing()
            }
            return true
        case .cut(let positions):
            ticket.isUnderWay = true
            // A request that is refused as invalid leaves the key as it was. A run whose own part is the newest was
            // only held as overload, and goes on.
            guard ticket.operation.partedRun != nil, positions.last != ticket.newestPart else { return true }
            ticket.outcome = .replay(positions)
            ticket.mayBePartlyApplied = true
        case .answered(let positions):
            ticket.outcome = .replay(positions)
        case .mismatch:
            ticket.outcome = .problem(
                Problem(.idempotencyMismatch, "this key came with another method, target or body before"))
        case .inProgress:
            ticket.outcome = .problem(
                Problem(.idempotencyInProgress, "the first request with this key is not answered yet"))
        }
        return false
    }

    /// Takes the step. The part of the answer that a run under an idempotency key has made is kept in the batch of
    /// its changes.
    func performKept(_ ticket: Ticket, _ turn: borrowing Turn) throws(ServiceError) -> Bool {
        guard ticket.isUnderWay, let request = ticket.idempotency, let run = ticket.operation.partedRun else {
            return try perform(ticket, turn)
        }
        try turn.checkAvailable()
        // A run can't go on after parts that were lost.
        if turn.isLost(ticket.rests) { throw .storageUnavailable }
        var isDone = false
        defer {
            if let part = run.takePart(isLast: isDone && ticket.outcome.isSuccess) {
                turn.keep(part, of: request, isTotal: run.isTotal, isLast: isDone && ticket.outcome.isSuccess)
                ticket.newestPart = turn.head
                ticket.rest(on: turn.head)
            }
        }
        isDone = try perform(ticket, turn)
        return isDone
    }

    /// Records the answer of a request with an idempotency key, or releases the key.
    func closeKey(of ticket: Ticket, _ turn: borrowing Turn) {
        guard let request = ticket.idempotency else { return }
        guard ticket.outcome.isSuccess, !turn.isLost(ticket.rests) else {
            // A request that is tried again looks the key up again.
            ticket.isUnderWay = false
            return turn.release(request.key)
        }
        switch ticket.outcome {
        case .batch, .bulk: break
        case .timer(let status): turn.answer(request, status: status, ticket.view)
        default: turn.answer(request, StoredResponse(ticket).encode())
        }
        ticket.rest(on: turn.head)
    }
}
