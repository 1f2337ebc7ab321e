/// The current state of a delivery.
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
    /// Where the timer is deleted: the definition by which the delivery is sent; nil for that of its event.
    public var will: DeliveryWill?
    /// Of a dead one: `attempts`, `backlog`, `status` or `age`.
    public var reason = EventReason.none
    /// When it was redriven, wall milliseconds; nil for a dead one, and one that was not.
    public var redrivenAt: Int64?

    /// Makes a standing; see the members.
    public init(id: Int64, body: Int64, slot: SlotIndex?, state: DeliveryState) {
        self.id = id
        self.body = body
        self.slot = slot
        self.state = state
    }
}
