/// The result of one attempt at a delivery, or of its death in a full backlog or of its age, as the log keeps it.
public struct DeliveryOutcome: Sendable, Equatable {
    /// `delivered`, `deliveryFailed` or `deliveryDead`.
    public var type: EventType
    /// Why it is dead.
    public var reason: EventReason = .none
    /// The delivery: the position of its event.
    public var delivery: Int64
    /// Attempts so far, 1 for the first; 0 where there was none.
    public var attempt: Int
    /// Status of the answer; 0 where there was none.
    public var status = 0
    /// Why there was none.
    public var failure: DeliveryFailure?
    /// Whether the delivery's timer is deleted, so that only the timer's name is known.
    public var isDetached = false
    /// Of `deliveryFailed`: when the next attempt is due, wall milliseconds.
    public var retryAt: Int64 = 0

    /// Makes an outcome; see the members.
    public init(_ type: EventType, delivery: Int64, attempt: Int) {
        self.type = type
        self.delivery = delivery
        self.attempt = attempt
    }
}

extension DeliveryOutcome {
    /// Whether an attempt ended so; else the delivery died without one, in a full backlog or of its age.
    public var endsAttempt: Bool { reason != .backlog && (reason != .age || status != 0 || failure != nil) }

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
