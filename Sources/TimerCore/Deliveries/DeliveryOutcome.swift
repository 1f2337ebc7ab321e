/// What became of a delivery by one attempt, or by waiting for too long: the result that the log keeps.
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
    /// Whether the delivery belongs to no timer any more, only to the name of one.
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

/// How the newest attempt at a delivery that has ended did, where the receiver did not take it.
public struct LastAttempt: Sendable, Equatable {
    /// When it ended, wall milliseconds.
    public var at: Int64
    /// Status of the answer; 0 where there was none.
    public var status: Int
    /// Why there was none.
    public var failure: DeliveryFailure?

    /// Makes one; see the members.
    public init(at: Int64, status: Int, failure: DeliveryFailure?) {
        self.at = at
        self.status = status
        self.failure = failure
    }
}

/// A delivery as it stands.
public struct DeliveryStanding: Sendable, Equatable {
    /// Position of the event that is delivered.
    public var id: Int64
    /// Position of the record that holds the event: the same, or where it was written anew.
    public var body: Int64
    /// The timer's place; nil for a dead one, and where the timer is deleted.
    public var slot: SlotIndex?
    /// Pending, in flight, waiting or dead.
    public var state: DeliveryState
    /// Attempts started since it was made or redriven.
    public var attempts = 0
    /// Waiting: when the next attempt is due; dead: when it is forgotten. Wall milliseconds.
    public var due: Int64 = 0
    /// How the last attempt ended; nil before that, and of one that was redriven.
    public var lastAttempt: LastAttempt?
    /// Of one whose timer is deleted: by which definition it goes; nil for that of its event.
    public var will: DeliveryWill?
    /// Of a dead one: `attempts` or `backlog`.
    public var reason = EventReason.none

    /// Makes a standing; see the members.
    public init(id: Int64, body: Int64, slot: SlotIndex?, state: DeliveryState) {
        self.id = id
        self.body = body
        self.slot = slot
        self.state = state
    }
}
