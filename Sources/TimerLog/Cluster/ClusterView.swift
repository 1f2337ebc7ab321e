/// The directory's answer to a beat: the state of the cluster at that moment.
public struct ClusterView: Sendable, Equatable {
    /// Whether the session of the beat had not been ended; otherwise the beat did not count.
    public var isLive: Bool
    /// The nodes whose sessions have not been ended, in the order of their sessions.
    public var nodes: [ClusterNode]
    /// The owner of the log.
    public var owner: LogOwner
    /// The newest row format that may be written once every live node reads it; it never falls.
    public var format: Int
    /// The directory's calendar clock, in nanoseconds since 1970.
    public var realtime: Int64

    /// Makes a view; see the members.
    public init(isLive: Bool, nodes: [ClusterNode], owner: LogOwner, format: Int, realtime: Int64) {
        self.isLive = isLive
        self.nodes = nodes
        self.owner = owner
        self.format = format
        self.realtime = realtime
    }
}
