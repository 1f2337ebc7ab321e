public import TimerLog

/// What a membership wants done. Steps are done in order.
public enum MembershipStep: Sendable, Equatable {
    /// Ask the directory; the answer goes to `Membership.answered`.
    case call(DirectoryCall)
    /// The lease lasts until this instant, in nanoseconds since boot, and the node's partitions may promise up to a position
    /// that no later record comes.
    case extendLease(until: Int64, promised: Int64)
    /// The lease is over.
    case revokeLease
    /// Open the partition and serve it; the outcome goes to `Membership.adopted`.
    case adopt(PartitionOwner)
    /// Stop serving the partitions at once; then tell `Membership.dropped`.
    case drop([Int])
    /// Read the log of a partition that another node means to give, or what has come since it was read; the outcome goes to
    /// `Membership.prepared`. One call for a partition at a time.
    case prepare(Int)
    /// Throw away what was read of the log of a partition, and end the reading.
    case forget(Int)
    /// Stop serving a partition that is to be given, and commit what it has; then tell `Membership.released`. Until it is
    /// adopted again or dropped, it is in hand-over: its requests may wait.
    case release(Int)
    /// Say something to the node of another session. It may get lost.
    case tell(Int64, PeerMessage)
    /// Tell the operator.
    case report(ClusterEvent)
}
