import TimerCore
import TimerLog
import TimerService

/// Requests with an idempotency key.
extension Executor {
    /// Judges the idempotency key. Returns whether the request is to be carried out; else its outcome says what is.
    func begin(
        _ ticket: Ticket, _ idempotency: (key: Hash128, fingerprint: Hash128), _ turn: borrowing Turn
    ) throws(ServiceError) -> Bool {
        switch try turn.begin(idempotency.key, fingerprint: idempotency.fingerprint) {
        case .fresh:
            ticket.isUnderWay = true
            if ticket.newestPart != 0 {
                // Parts that were written before are gone.
                _ = ticket.operation.partedRun?.resume(behind: [])
                ticket.newestPart = 0
                ticket.restOnNothing()
            }
            return true
        case .cut(let positions):
            ticket.isUnderWay = true
            // One that is refused for what it is leaves the key as it was; one that was only held back goes on.
            guard ticket.operation.partedRun != nil, positions.last != ticket.newestPart else { return true }
            ticket.outcome = .replay(positions)
            ticket.mayStandInPart = true
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

    /// Takes the step; of a run under an idempotency key what it did is kept in the same batch.
    func performKept(_ ticket: Ticket, _ turn: borrowing Turn) throws(ServiceError) -> Bool {
        guard ticket.isUnderWay, let idempotency = ticket.idempotency, let run = ticket.operation.partedRun else {
            return try perform(ticket, turn)
        }
        try turn.checkAvailable()
        // Parts that were lost can't be gone on from.
        if turn.isLost(ticket.rests) { throw .storageUnavailable }
        var isDone = false
        defer {
            if let part = run.takePart(isLast: isDone && ticket.outcome.isSuccess) {
                turn.keep(
                    part, of: idempotency.key, fingerprint: idempotency.fingerprint, isTotal: run.isTotal,
                    isLast: isDone && ticket.outcome.isSuccess)
                ticket.newestPart = turn.head
                ticket.rest(on: turn.head)
            }
        }
        isDone = try perform(ticket, turn)
        return isDone
    }

    /// Records the answer of a request with an idempotency key, or frees the key.
    func closeKey(of ticket: Ticket, _ turn: borrowing Turn) {
        guard let (key, fingerprint) = ticket.idempotency else { return }
        guard ticket.outcome.isSuccess, !turn.isLost(ticket.rests) else {
            // A request that is tried again is judged again.
            ticket.isUnderWay = false
            return turn.release(key)
        }
        switch ticket.outcome {
        case .batch, .bulk: break
        case .timer(let status): turn.answer(key, fingerprint: fingerprint, status: status, ticket.view)
        default: turn.answer(key, fingerprint: fingerprint, StoredResponse(ticket).encode())
        }
        ticket.rest(on: turn.head)
    }
}
