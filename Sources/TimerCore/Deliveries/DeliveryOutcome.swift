/// The result of one attempt at a delivery, or its death without one (backlog full, or too old), as the log keeps it.
public struct DeliveryOutcome: Sendable, Equatable {
    /// `delivered`, `deliveryFailed` or `deliveryDead`.
    public var type: EventType
    /// The reason the delivery is dead; `none` for other types.
    public var reason: EventReason = .none
    /// The delivery's id, which is the position of its event.
    public var delivery: Int64
    /// The number of attempts so far, 1 for the first; 0 if there was none.
    public var attempt: Int
    /// The status of the answer; 0 if there was none.
    public var status = 0
    /// The reason there was no answer.
    public var failure: DeliveryFailure?
    /// Whether the delivery's timer is deleted, so that only the timer's name is known.
    public var isDetached = false
    /// The instant of the next attempt, in wall milliseconds; only for `deliveryFailed`.
    public var retryAt: Int64 = 0

    /// Makes an outcome; see the members.
    public init(_ type: EventType, delivery: Int64, attempt: Int) {
        self.type = type
        self.delivery = delivery
        self.attempt = attempt
    }
}

/// The reason an attempt got no answer.
public enum DeliveryFailure: UInt8, Sendable, CaseIterable {
    /// The URL's host has no address.
    case unresolved = 1
    /// The address policy refuses the address.
    case refused = 2
    /// No server listens at the address, or there is no route to it.
    case unreachable = 3
    /// No trusted TLS connection could be made.
    case untrusted = 4
    /// The time for the attempt was over.
    case timedOut = 5
    /// The connection ended before the answer did.
    case interrupted = 6
    /// The answer is not HTTP, or too large.
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

    /// The name that a delivery shows, from which a receiver's operator finds the cause.
    public var cause: StaticString {
        switch self {
        case .refused: "refused-address"
        case .untrusted: "tls"
        case .timedOut: "timeout"
        default: name
        }
    }
}

extension DeliveryOutcome {
    /// Whether an attempt ended with this outcome; otherwise the delivery died without one (backlog full, or too
    /// old).
    public var endsAttempt: Bool { reason != .backlog && (reason != .age || status != 0 || failure != nil) }

    /// The event that this outcome is to `DeliveryMachine`.
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
