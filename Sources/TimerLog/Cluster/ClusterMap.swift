/// The nodes of a cluster and the owner of the log, as one node knows them.
public struct ClusterMap: Sendable, Equatable {
    /// The number of the node's session.
    public var session: Int64
    /// The URL at which the node is reached.
    public var url: String
    /// The nodes whose sessions have not ended, in the order of their sessions; empty until the node has joined.
    public var nodes: [ClusterNode]
    /// The owner of the log; nil until the node has joined.
    public var owner: LogOwner?

    /// Makes a map; see the members.
    public init(session: Int64, url: String, nodes: [ClusterNode], owner: LogOwner?) {
        self.session = session
        self.url = url
        self.nodes = nodes
        self.owner = owner
    }
}
