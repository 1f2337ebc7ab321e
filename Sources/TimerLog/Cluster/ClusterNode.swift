/// A process that takes part in a cluster, as the directory lists it.
public struct ClusterNode: Sendable, Equatable {
    /// The random number of the node's session. A process begins a new session when its last one was ended.
    public var session: Int64
    /// How many beats of the session the directory has counted.
    public var beat: Int64
    /// The URL at which the node can be reached.
    public var url: String
    /// The address, as `host:port`, at which the node takes requests that other nodes forward; empty where it takes
    /// none.
    public var peer: String
    /// The newest row format that the node reads.
    public var reads: Int
    /// How far the node's calendar is ahead of the directory's, in nanoseconds; nil until the node has measured
    /// that.
    public var skew: Int64?
    /// Whether the node must not own the log.
    public var isLeaving: Bool

    /// Makes a node; see the members.
    public init(
        session: Int64, beat: Int64 = 0, url: String, peer: String = "", reads: Int, skew: Int64? = nil,
        isLeaving: Bool = false
    ) {
        self.session = session
        self.beat = beat
        self.url = url
        self.peer = peer
        self.reads = reads
        self.skew = skew
        self.isLeaving = isLeaving
    }
}
