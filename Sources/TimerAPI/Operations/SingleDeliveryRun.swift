import TimerCore
import TimerService

/// A request about one delivery: its event is read first, then the action is done.
final class SingleDeliveryRun {
    /// The action on the delivery.
    enum Action {
        case show, redrive, drop
    }

    private let action: Action
    private let id: EventID
    private var reading: DeliveryEventReading?

    init(_ action: Action, _ id: EventID) {
        self.action = action
        self.id = id
    }

    /// Takes the next step, under the lock.
    func step(_ turn: borrowing Turn) throws(ServiceError) -> Outcome {
        guard let detail = turn.delivery(id.position) else { return .problem(.noDelivery) }
        if action == .redrive && detail.state != .dead { return .problem(Self.refusal(.notDead(detail.state))) }
        guard let reading else {
            let reading = DeliveryEventReading([detail])
            self.reading = reading
            return .needsEvents(reading)
        }
        guard reading.recheck(turn) else { return .needsEvents(reading) }
        guard var entry = reading.entries.first, let event = entry.event else { return .problem(.noDelivery) }
        switch action {
        case .show:
            entry.detail = detail
        case .redrive:
            let verdict = try turn.redrive(id.position, definition: event.definition)
            guard case .redriven(let redriven) = verdict else { return .problem(Self.refusal(verdict)) }
            entry.detail = redriven
        case .drop:
            try turn.dropDelivery(id.position, definition: event.definition)
            return .noContent
        }
        return .delivery(entry)
    }

    /// Returns the problem for which a delivery is not redriven.
    private static func refusal(_ verdict: RedriveVerdict) -> Problem {
        let detail =
            switch verdict {
            case .notDead(let state): "the delivery is \(state.name): only dead letters are redriven"
            case .noWebhook: "the timer has no webhook any more, or one whose receiver answered 410"
            case .full:
                "as many deliveries as may be are pending: \(Scheduler.mostDeliveriesPerTimer) of a timer, and --webhook-backlog in all"
            case .redriven: "it is redriven"
            }
        var problem = Problem(.illegalTransition, detail)
        problem.command = "redrive"
        return problem
    }
}
