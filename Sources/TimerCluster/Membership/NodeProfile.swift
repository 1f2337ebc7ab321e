/// The facts that a node reports about itself to the others, the same in each of its sessions.
public struct NodeProfile: Sendable, Equatable {
    /// The URL at which the node can be reached.
    public var url: String
    /// The address, as `host:port`, at which the node takes requests that other nodes forward; empty where it takes
    /// none.
    public var peer: String
    /// The newest row format that the node reads.
    public var reads: Int

    /// Makes a profile; see the members.
    public init(url: String, peer: String = "", reads: Int) {
        self.url = url
        self.peer = peer
        self.reads = reads
    }
}
