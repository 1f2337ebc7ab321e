/// The values that a node reports to the directory with each beat.
public struct NodeBeat: Sendable, Equatable {
    /// The node's session.
    public var session: Int64
    /// The greatest position up to which the session may promise "no later record up to here". It never falls.
    public var promised: Int64
    /// See `ClusterNode.skew`.
    public var skew: Int64?
    /// See `ClusterNode.isLeaving`.
    public var isLeaving: Bool

    /// Makes a beat; see the members.
    public init(session: Int64, promised: Int64, skew: Int64?, isLeaving: Bool) {
        self.session = session
        self.promised = promised
        self.skew = skew
        self.isLeaving = isLeaving
    }
}
