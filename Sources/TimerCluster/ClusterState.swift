public import TimerLog

/// The state of the cluster, as a node knows it.
public struct ClusterState: Sendable, Equatable {
    /// The node's session.
    public var session: Int64
    /// Whether the session is entered.
    public var isMember = false
    /// The live nodes, this one among them.
    public var nodes: [ClusterNode] = []
    /// The owner of the log; nil until a beat was answered.
    public var owner: LogOwner?
    /// The instants, in nanoseconds since boot, since which standbys lack records that the log has, by their sessions.
    public var behind: [Int64: Int64] = [:]
    /// Whether the directory does not answer, so that the state may be an old one.
    public var isUnreachable = false
    /// Whether this node serves the log.
    public var isServing = false
    /// How far the node's calendar is ahead of the directory's, in nanoseconds.
    public var skew: Int64?
    /// How many times the node has taken the log.
    public var takeovers = 0
    /// How many times the log was taken from the node.
    public var fenced = 0

    /// Makes the state of a node whose session is not entered yet.
    public init(session: Int64) { self.session = session }

    /// The session that should own the log: the live owner, else, of the nodes that hold its timers in memory, or of all
    /// where none does, the one whose URL comes first. Nodes that leave are passed over; nil where no other is left.
    public var plannedOwner: Int64? {
        let staying = nodes.filter { !$0.isLeaving }
        let current = staying.first { $0.session == owner?.session }
        let warm = staying.filter { $0.followed != nil }
        let able = warm.isEmpty ? staying : warm
        return (current ?? able.min { ($0.url, $0.session) < ($1.url, $1.session) })?.session
    }

    /// The live node that owns the log; nil where it is not known or the log has none.
    public var ownerNode: ClusterNode? { nodes.first { $0.session == owner?.session } }

    /// The URL of the log's owner; nil where it is this node, or none is known.
    public var ownerURL: String? { ownerNode.flatMap { $0.session == session ? nil : $0.url } }
}
