/// The states a delivery can be in.
public enum DeliveryState: UInt8, Sendable, CaseIterable {
    /// Not tried yet, or to be tried anew from the first attempt.
    case pending = 0
    /// An attempt is under way.
    case inFlight = 1
    /// An attempt failed; the next one has its time.
    case waiting = 2
    /// The receiver took it.
    case delivered = 3
    /// Given up: a dead letter, which can be redriven.
    case dead = 4
    /// The receiver wants no more of the timer's deliveries (410).
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

/// Why an attempt got no answer.
public enum DeliveryFailure: UInt8, Sendable, CaseIterable {
    /// The URL's host has no address.
    case unresolved = 1
    /// The address policy refuses the address.
    case refused = 2
    /// Nobody listens there, or there is no way to it.
    case unreachable = 3
    /// No connection that could be trusted came about.
    case untrusted = 4
    /// The time for the attempt was over.
    case timedOut = 5
    /// The connection ended before the answer did.
    case interrupted = 6
    /// What came back is no answer of HTTP, or one that is too large.
    case malformed = 7

    /// The name in events.
    public var name: StaticString {
        switch self {
        case .unresolved: "unresolved"
        case .refused: "refused"
        case .unreachable: "unreachable"
        case .untrusted: "untrusted"
        case .timedOut: "timedOut"
        case .interrupted: "interrupted"
        case .malformed: "malformed"
        }
    }

    /// The name that a delivery shows, by which receivers' operators look for the cause.
    public var cause: StaticString {
        switch self {
        case .refused: "refused-address"
        case .untrusted: "tls"
        case .timedOut: "timeout"
        default: name
        }
    }
}
