/// The directory in which the nodes of a cluster find each other and agree on who owns the log. Called by one
/// thread at a time.
///
/// Every call ends in bounded time. A call that throws `unavailable` may have had its effect all the same: the
/// caller looks, or repeats it. Each call is one transaction; a session that was ended stays ended.
public protocol ClusterDirectory: AnyObject, Sendable {
    /// Enters the node's session; does nothing where it is entered already.
    func join(_ node: ClusterNode) throws(StoreError)
    /// Counts a beat of the session unless the session was ended, and returns the state of the cluster.
    func beat(_ beat: NodeBeat) throws(StoreError) -> ClusterView
    /// Ends a session whose beat is still `beat`. Returns whether this call ended it.
    func end(_ session: Int64, at beat: Int64) throws(StoreError) -> Bool
    /// Ends the caller's own session, which has promised nothing beyond `promised`, whatever its beats allowed: the
    /// next owner of the log begins above that.
    func leave(_ session: Int64, promised: Int64) throws(StoreError)
    /// Takes the log if its owner's session was ended, or is the taker's already: a taker that does not know the
    /// outcome of its take begins a further epoch, whose commit proves everything before it. Writes the barrier in
    /// the same transaction: after the end of the log, the taker's clock, and the position that an ended owner had
    /// promised. Raises the directory's format to what the taker reads, in which it writes from then on.
    func take(_ order: TakeOrder) throws(StoreError) -> TakeOutcome
    /// Gives the log of `order.from`, the caller's session, to the live session `order.session`, unless that is
    /// leaving. Writes the barrier after the end of the log and `order.clock`, the greatest position up to which the
    /// giver has promised no later record.
    func give(_ order: TakeOrder) throws(StoreError) -> TakeOutcome
    /// Closes the connections by which a session may still have statements under way in the storage. Returns how
    /// many were closed.
    func endConnections(of session: Int64) throws(StoreError) -> Int
    /// Forgets ended sessions that do not own the log and promised nothing from `position` on. Returns how many.
    func forget(promisedBefore position: Int64) throws(StoreError) -> Int
    /// Closes the connection, if there is one; the next call opens it again.
    func close()
}

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
    /// The newest row format that the node reads, and the one in which it writes.
    public var reads: Int
    /// How far the node's calendar is ahead of the directory's, in nanoseconds; nil until the node has measured
    /// that.
    public var skew: Int64?
    /// Whether the node must not own the log.
    public var isLeaving: Bool
    /// How much of the log the node holds in memory.
    public var memory: LogMemory
    /// The rows of the log after `followed`, as the directory counted them; nil where `followed` is nil or the directory
    /// has counted nothing. The owner lacks none.
    public var unread: UnreadRows?

    /// Makes a node; see the members.
    public init(
        session: Int64, beat: Int64 = 0, url: String, peer: String = "", reads: Int, skew: Int64? = nil,
        isLeaving: Bool = false, memory: LogMemory = .cold, unread: UnreadRows? = nil
    ) {
        self.memory = memory
        self.unread = unread
        self.session = session
        self.beat = beat
        self.url = url
        self.peer = peer
        self.reads = reads
        self.skew = skew
        self.isLeaving = isLeaving
    }

    /// See `LogMemory.through`; nil where the node would have to read the whole log.
    public var followed: Int64? { memory.position }

    /// Whether the log can be handed over to the node, if it is not the owner.
    public var isFit: Bool { !isLeaving && followed != nil }
}

/// How much of a log a node holds in memory.
public enum LogMemory: Sendable, Hashable {
    /// The node reads nothing of another's log.
    case cold
    /// The node reads the log, and has not come to its end yet.
    case warming
    /// The node holds all records up to that position: those that a standby has read or, of the owner, that are durable.
    case through(Int64)

    /// The position of the newest record that is held; nil where the node would have to read the whole log.
    public var position: Int64? {
        if case .through(let position) = self { position } else { nil }
    }
}

/// The rows of the log that a standby had not read at its last beat.
public struct UnreadRows: Sendable, Equatable {
    /// The most rows that are counted: the directory counts them with each beat, on which a lease depends.
    public static let most = 1000

    /// The number of rows, each of which holds the records of a commit or a part of them; `most` means so many or more.
    public var count: Int
    /// The bytes of the counted rows' data, as they are stored.
    public var bytes: Int

    /// Makes a count; see the members.
    public init(count: Int, bytes: Int) {
        self.count = count
        self.bytes = bytes
    }
}

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
    /// See `ClusterNode.memory`.
    public var memory: LogMemory

    /// Makes a beat; see the members.
    public init(session: Int64, promised: Int64, skew: Int64?, isLeaving: Bool, memory: LogMemory = .cold) {
        self.memory = memory
        self.session = session
        self.promised = promised
        self.skew = skew
        self.isLeaving = isLeaving
    }
}

/// The directory's answer to a beat: the state of the cluster at that moment.
public struct ClusterView: Sendable, Equatable {
    /// Whether the session of the beat had not been ended; otherwise the beat did not count.
    public var isLive: Bool
    /// The nodes whose sessions have not been ended, in the order of their sessions.
    public var nodes: [ClusterNode]
    /// The owner of the log.
    public var owner: LogOwner
    /// Position of the newest record in the log.
    public var end: Int64
    /// The newest row format in which an owner of the log has written; it never falls.
    public var format: Int
    /// The directory's calendar clock, in nanoseconds since 1970.
    public var realtime: Int64

    /// Makes a view; see the members.
    public init(
        isLive: Bool, nodes: [ClusterNode], owner: LogOwner, end: Int64 = 0, format: Int, realtime: Int64
    ) {
        self.isLive = isLive
        self.nodes = nodes
        self.owner = owner
        self.end = end
        self.format = format
        self.realtime = realtime
    }
}

extension ClusterDirectory {
    /// Ends the caller's own session, which may have promised all that its beats allowed.
    public func leave(_ session: Int64) throws(StoreError) { try leave(session, promised: .max) }
}
