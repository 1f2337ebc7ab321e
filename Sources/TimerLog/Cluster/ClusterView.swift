/// What the directory answers a beat: how the cluster stood at that moment.
public struct ClusterView: Sendable, Equatable {
    /// Whether the session that beat had not been ended; else the beat did not count.
    public var isLive: Bool
    /// The nodes whose sessions have not been ended, in the order of their sessions.
    public var nodes: [ClusterNode]
    /// The sum of the epochs of all partitions: it grows with each change of an owner.
    public var epochs: Int64
    /// The newest row format that may be written once every live node reads it; it never falls.
    public var format: Int
    /// The directory's calendar clock, in nanoseconds since 1970.
    public var realtime: Int64

    /// Makes a view; see the members.
    public init(isLive: Bool, nodes: [ClusterNode], epochs: Int64, format: Int, realtime: Int64) {
        self.isLive = isLive
        self.nodes = nodes
        self.epochs = epochs
        self.format = format
        self.realtime = realtime
    }
}
