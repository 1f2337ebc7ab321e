/// A take-over of the log, or its gift to another session.
public struct TakeOrder: Sendable, Equatable {
    /// The epoch at which the log was seen: nothing changes if the log has another.
    public var epoch: Int64
    /// The session that was seen to own the log.
    public var from: Int64
    /// The session that takes the log.
    public var session: Int64
    /// The position of the taker's clock: the barrier comes after it.
    public var clock: Int64

    /// Makes an order; see the members.
    public init(epoch: Int64, from: Int64, session: Int64, clock: Int64) {
        self.epoch = epoch
        self.from = from
        self.session = session
        self.clock = clock
    }
}
