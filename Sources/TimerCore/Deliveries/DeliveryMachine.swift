/// The one table of the events that are possible in each state of a delivery, and of the states they lead to.
public enum DeliveryMachine {
    /// Returns the state that `event` leads to from `state`; nil if it can't happen there.
    public static func next(_ event: DeliveryEvent, in state: DeliveryState) -> DeliveryState? {
        table[event.rawValue][Int(state.rawValue)]
    }

    // Rows are in the order of `DeliveryEvent`, columns in that of `DeliveryState`.
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

/// The states a delivery can be in.
public enum DeliveryState: UInt8, Sendable, CaseIterable {
    /// To be attempted: for the first time, for the first time since a redrive, or after a wait.
    case pending = 0
    /// An attempt is under way.
    case inFlight = 1
    /// An attempt failed or was postponed; the next one has its due instant.
    case waiting = 2
    /// The receiver accepted the delivery.
    case delivered = 3
    /// A dead letter: no attempt follows unless a client redrives it.
    case dead = 4
    /// Dropped: by a client, or because the receiver wants no more deliveries of the timer (410).
    case stopped = 5

    /// The name on the wire and in logs.
    public var name: String {
        switch self {
        case .pending: "pending"
        case .inFlight: "inFlight"
        case .waiting: "waiting"
        case .delivered: "delivered"
        case .dead: "dead"
        case .stopped: "stopped"
        }
    }
}

/// An event in the life of a delivery.
public enum DeliveryEvent: Int, Sendable, CaseIterable {
    /// An attempt began.
    case started
    /// The receiver accepted the delivery.
    case delivered
    /// The attempt failed, and there will be another.
    case failed
    /// The last attempt failed, its status allows no other, or the delivery is too old for another.
    case exhausted
    /// The receiver wants no more deliveries of the timer (410).
    case refused
    /// The attempt could not begin after all.
    case postponed
    /// The wait for the next attempt is over.
    case due
    /// Too many deliveries are pending, and this one is the oldest.
    case overflowed
    /// A client redrove the dead letter: it is attempted again.
    case redriven
    /// A client dropped the delivery, or its timer.
    case dropped
    /// An attempt is under way that the log, folded again meanwhile, has no record of.
    case rejoined
}
