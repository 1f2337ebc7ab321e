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
