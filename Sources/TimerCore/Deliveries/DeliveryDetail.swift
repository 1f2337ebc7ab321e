/// The current state of a delivery.
public struct DeliveryDetail: Sendable, Equatable {
    /// The position of the event that is delivered, which is the delivery's id.
    public var id: Int64
    /// The position of the record that holds the event: `id`, or that of the copy written last.
    public var body: Int64
    /// The timer's place; nil for a dead delivery, and once the timer is deleted.
    public var slot: SlotIndex?
    /// The state: pending, in flight, waiting or dead.
    public var state: DeliveryState
    /// The number of attempts started since the delivery was made or redriven.
    public var attempts = 0
    /// The instant of a waiting delivery's next attempt, or at which a dead one is forgotten, in wall milliseconds.
    public var due: Int64 = 0
    /// The end of the last attempt since the delivery was made or redriven; nil before one has ended.
    public var lastAttempt: LastAttempt?
    /// The definition by which the delivery of a deleted timer is sent; nil for that of its event.
    public var will: DeliveryWill?
    /// The reason a dead delivery died: `attempts`, `backlog`, `status` or `age`.
    public var reason = EventReason.none
    /// The instant of the redrive, in wall milliseconds; nil for a dead delivery, and for one that was not redriven.
    public var redrivenAt: Int64?

    /// Makes a delivery's state; see the members.
    public init(id: Int64, body: Int64, slot: SlotIndex?, state: DeliveryState) {
        self.id = id
        self.body = body
        self.slot = slot
        self.state = state
    }
}

/// The last finished attempt at a delivery, which failed.
public struct LastAttempt: Sendable, Equatable {
    /// The instant at which the attempt ended, in wall milliseconds.
    public var at: Int64
    /// The status of the answer; 0 if there was none.
    public var status: Int
    /// The reason there was no answer.
    public var failure: DeliveryFailure?

    /// Makes an attempt; see the members.
    public init(at: Int64, status: Int, failure: DeliveryFailure?) {
        self.at = at
        self.status = status
        self.failure = failure
    }
}
