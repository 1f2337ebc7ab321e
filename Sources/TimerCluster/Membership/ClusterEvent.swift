public import TimerLog

/// An event that the operator of a node may want to know of.
public enum ClusterEvent: Sendable, Equatable {
    /// The node has entered a session, and beats.
    case joined(session: Int64)
    /// Another node owns the log.
    case ownedElsewhere(owner: String)
    /// The node has taken the log.
    case took
    /// The log was taken from the node.
    case fenced
    /// The node owns the log and can't open it; it tries again.
    case adoptionFailed(StoreError)
    /// The directory does not answer.
    case unreachable(StoreError)
    /// No beat has succeeded for so long that another node may have taken over: nothing is shown.
    case leaseLost
    /// The lease is valid again; nobody had taken over.
    case leaseRegained
    /// This node's session was ended by another node, which saw no beat.
    case sessionEnded(session: Int64)
    /// The node ends its session, for `reason`, and begins a new one.
    case sessionDropped(session: Int64, reason: String)
    /// This node has ended the session of another, whose beats had stopped.
    case ended(ClusterNode)
    /// Connections of an ended session that blocked a take-over were closed.
    case connectionsEnded(session: Int64, count: Int)
    /// The node's calendar is off by so many nanoseconds; `leaves` where the calendars of others agree, so that the
    /// node must not own the log.
    case skewed(Int64, leaves: Bool)
    /// The node's calendar is right again.
    case skewGone
    /// The log may hold rows of a newer format than the node reads, so the node leaves.
    case formatTooNew(Int)
}
