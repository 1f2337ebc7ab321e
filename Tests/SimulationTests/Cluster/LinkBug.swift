/// A mistake of what is told between processes, which the histories are to find.
enum LinkBug: Sendable, CaseIterable {
    case none
    /// A follower takes for granted what an owner has not promised.
    case takesForGranted
    /// An owner looks at its rows before it promises that no other comes.
    case promisesAfterLook
    /// A follower that was told to read the store does not have its streams do so.
    case passesOverGone
    /// An owner counts what it has sent on a connection that was lost as received.
    case countsSentAsReceived
    /// Streams read the stores as far as they go, and not as far as their owners have told.
    case readsBeyondTold
    /// A partition that has left is taken to have nothing before the newest position of any other.
    case leavesAhead
}
