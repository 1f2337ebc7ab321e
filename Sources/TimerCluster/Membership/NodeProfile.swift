/// What a node tells the others about itself, the same in each of its sessions.
public struct NodeProfile: Sendable, Equatable {
    /// Where it can be reached.
    public var url: String
    /// Where it takes requests that other nodes forward, as `host:port`; empty where it takes none.
    public var peer: String
    /// The newest row format that it reads.
    public var reads: Int

    /// Makes a profile; see the members.
    public init(url: String, peer: String = "", reads: Int) {
        self.url = url
        self.peer = peer
        self.reads = reads
    }
}
