public import TimerLog

/// A step that a membership asks for. Steps are done in order.
public enum MembershipStep: Sendable, Equatable {
    /// Ask the directory; the answer goes to `Membership.answered`.
    case call(DirectoryCall)
    /// The lease lasts until this instant, in nanoseconds since boot.
    case extendLease(until: Int64)
    /// The lease is over.
    case revokeLease
    /// Open the log and serve it; the outcome goes to `Membership.adopted`.
    case adopt(LogOwner)
    /// Stop serving the log at once, then call `Membership.dropped`.
    case drop
    /// Report to the operator.
    case report(ClusterEvent)
}
