/// The session that owns the log of a cluster, and its epoch.
public struct LogOwner: Sendable, Equatable {
    /// The number of epochs begun so far: an owner begins one with its take, and may begin more.
    public var epoch: Int64
    /// The session that owns the log; 0 before the first owner.
    public var session: Int64

    /// Makes an owner; see the members.
    public init(epoch: Int64, session: Int64) {
        self.epoch = epoch
        self.session = session
    }
}
