/// Which session owns a partition.
public struct PartitionOwner: Sendable, Equatable {
    /// Number of the partition.
    public var partition: Int
    /// How many times its owner, or the owner's epoch, has changed.
    public var epoch: Int64
    /// The session that owns it; 0 before the first owner.
    public var session: Int64

    /// Makes an owner; see the members.
    public init(partition: Int, epoch: Int64, session: Int64) {
        self.partition = partition
        self.epoch = epoch
        self.session = session
    }
}
