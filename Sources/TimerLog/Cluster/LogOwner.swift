/// Which session owns the log of a cluster.
public struct LogOwner: Sendable, Equatable {
    /// How many times the owner, or the owner's epoch, has changed.
    public var epoch: Int64
    /// The session that owns it; 0 before the first owner.
    public var session: Int64

    /// Makes an owner; see the members.
    public init(epoch: Int64, session: Int64) {
        self.epoch = epoch
        self.session = session
    }
}
