public import TimerLog

/// How the cluster stands, as a node knows it.
public struct ClusterStanding: Sendable, Equatable {
    /// The node's session.
    public var session: Int64
    /// Whether the session is entered.
    public var isMember = false
    /// The live nodes, this one among them.
    public var nodes: [ClusterNode] = []
    /// Who owns which partition; empty until it was read.
    public var owners: [PartitionOwner] = []
    /// How many partitions this node serves.
    public var servedCount = 0
    /// The newest row format that may be written; 0 until it is known.
    public var format = 0
    /// How far the node's calendar is ahead of the directory's, in nanoseconds.
    public var skew: Int64?
    /// How many partitions the node has taken.
    public var takeovers = 0
    /// How many partitions were taken from the node.
    public var fenced = 0

    /// A node without a session that counts.
    public init(session: Int64) { self.session = session }

    /// The session that is to own all partitions: the live owner of the first one, else the node whose URL comes first. Nodes
    /// that leave are passed over; nil where no other is left.
    public var plannedOwner: Int64? {
        let staying = nodes.filter { !$0.isLeaving }
        let owner = owners.first.flatMap { first in staying.first { $0.session == first.session } }
        return (owner ?? staying.min { ($0.url, $0.session) < ($1.url, $1.session) })?.session
    }

    /// The live node that owns a partition; nil where it is not known or has none.
    public func owner(of partition: Int) -> ClusterNode? {
        guard owners.indices.contains(partition) else { return nil }
        return nodes.first { $0.session == owners[partition].session }
    }

    /// Where the owner of a partition can be reached, unless it is this node.
    public func ownerURL(of partition: Int = 0) -> String? {
        owner(of: partition).flatMap { $0.session == session ? nil : $0.url }
    }
}
