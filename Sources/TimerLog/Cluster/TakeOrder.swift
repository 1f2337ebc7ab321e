/// A take-over of one partition.
public struct TakeOrder: Sendable, Equatable {
    /// Number of the partition.
    public var partition: Int
    /// The epoch that the partition was seen at: the take changes nothing if it has another.
    public var epoch: Int64
    /// The session that was seen to own it.
    public var from: Int64
    /// The session that takes.
    public var session: Int64
    /// The position of the taker's clock: the barrier comes behind it.
    public var clock: Int64

    /// Makes an order; see the members.
    public init(partition: Int, epoch: Int64, from: Int64, session: Int64, clock: Int64) {
        self.partition = partition
        self.epoch = epoch
        self.from = from
        self.session = session
        self.clock = clock
    }
}
