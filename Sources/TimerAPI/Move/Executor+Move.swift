import TimerService
import WireJSON

/// Drains and imports.
extension Executor {
    func move(_ ticket: Ticket, _ turn: borrowing Turn) throws(ServiceError) -> Bool {
        defer { ticket.rest(on: turn.head) }
        switch ticket.operation {
        case .drain(let isDrained):
            try turn.setDrained(isDrained)
            ticket.outcome = Self.drained(isDrained, attemptsUnderWay: turn.attemptsUnderWay)
        case .importPart(let run):
            defer { ticket.mayBePartlyApplied = run.hasChanged }
            // The part can't go on after lines that were lost.
            if turn.isLost(ticket.rests) { throw .storageUnavailable }
            guard try run.step(turn) else { return false }
            ticket.outcome = run.problem.map { .problem($0) } ?? run.outcome
        case .importState(let state):
            ticket.outcome = state.outcome(turn.importProgress(of: state.export))
        default: break
        }
        return true
    }

    /// Returns the answer of a drain.
    private static func drained(_ isDrained: Bool, attemptsUnderWay: Int) -> Outcome {
        var json = JSONWriter()
        json.beginObject()
        json.member("drained", isDrained)
        json.member("attemptsUnderWay", Int64(attemptsUnderWay))
        json.endObject()
        return .page(status: 200, type: "application/json", json.bytes)
    }
}
