/// What happens to a delivery.
public enum DeliveryEvent: Int, Sendable, CaseIterable {
    /// Its turn has come, and the request goes out.
    case started
    /// The receiver took it.
    case delivered
    /// The attempt failed, and there will be another.
    case failed
    /// The last attempt failed.
    case exhausted
    /// The receiver wants no more of the timer's deliveries.
    case refused
    /// The attempt could not begin after all.
    case postponed
    /// The wait for the next attempt is over.
    case due
    /// Too many are pending, and this is the oldest.
    case overflowed
    /// A client wants it tried anew.
    case redriven
    /// A client dropped it, or its timer.
    case dropped
    /// An attempt has ended that the log, folded anew meanwhile, knows nothing of.
    case rejoined
}

/// Which event is possible in which state of a delivery, and where it leads: the one table.
public enum DeliveryMachine {
    /// Where `event` leads from `state`; nil where it can't happen.
    public static func next(_ event: DeliveryEvent, in state: DeliveryState) -> DeliveryState? {
        table[event.rawValue][Int(state.rawValue)]
    }

    // Rows as `DeliveryEvent`, columns as `DeliveryState`.
    private static let table: [[DeliveryState?]] = [
        // pending, in flight, waiting, delivered, dead, stopped
        [.inFlight, nil, nil, nil, nil, nil],  // started
        [nil, .delivered, nil, nil, nil, nil],  // delivered
        [nil, .waiting, nil, nil, nil, nil],  // failed
        [nil, .dead, nil, nil, nil, nil],  // exhausted
        [nil, .stopped, nil, nil, nil, nil],  // refused
        [nil, .waiting, nil, nil, nil, nil],  // postponed
        [nil, nil, .pending, nil, nil, nil],  // due
        [.dead, nil, .dead, nil, nil, nil],  // overflowed
        [nil, nil, nil, nil, .pending, nil],  // redriven
        [.stopped, .stopped, .stopped, nil, .stopped, nil],  // dropped
        [.inFlight, nil, .inFlight, nil, nil, nil],  // rejoined
    ]
}

extension DeliveryOutcome {
    /// What happened to the delivery.
    public var event: DeliveryEvent {
        switch (type, reason) {
        case (.delivered, _): .delivered
        case (.deliveryFailed, _): .failed
        case (_, .gone): .refused
        case (_, .backlog): .overflowed
        default: .exhausted
        }
    }
}
