/// The states a delivery can be in.
public enum DeliveryState: UInt8, Sendable, CaseIterable {
    /// Not tried yet, or to be tried anew from the first attempt.
    case pending = 0
    /// An attempt is under way.
    case inFlight = 1
    /// An attempt failed; the next one has its due instant.
    case waiting = 2
    /// The receiver accepted it.
    case delivered = 3
    /// Given up: a dead letter, which can be redriven.
    case dead = 4
    /// The receiver wants no more deliveries of the timer (410).
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
