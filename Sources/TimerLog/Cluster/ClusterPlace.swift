public import Platform
internal import Synchronization

/// The place of a process in its cluster, as the process knows it. May be used on any thread.
public protocol ClusterPlace: Sendable {
    /// The lease, during which this process may show what it holds.
    var lease: Lease { get }
    /// The URL of the process that owns the log, unless this one does; nil where none is known.
    var owner: String? { get }
    /// The nodes and the owner of the log; nil until this process has begun to join.
    var map: ClusterMap? { get }
    /// The number of times that this process has taken the log since it started, and that the log was taken from
    /// it.
    var takeovers: Int { get }
    var fenced: Int { get }
    /// Hands the log over to the process at `url`; nil: to the one that has read most of it.
    ///
    /// - Parameter ended: told the outcome once, within seconds, on any thread.
    func handOver(to url: String?, _ ended: @escaping @Sendable (HandOverOutcome) -> Void)
}

/// The outcome of a hand-over.
public enum HandOverOutcome: Sendable, Equatable {
    /// The node at the URL owns the log.
    case handedOver(to: String)
    /// The log stays where it is.
    case refused(HandOverRefusal)
    /// The log was ended, and who owns it is not known yet: this node, which takes it back then, or another.
    case failed
}

/// The reason for which the log is not handed over.
public enum HandOverRefusal: Error, Sendable, Equatable {
    /// The node does not own the log.
    case notOwner
    /// The node that was named owns the log already.
    case isOwner
    /// Another hand-over is under way.
    case underWay
    /// No node has the URL.
    case unknownServer
    /// No other node has read the log.
    case nobodyFit
    /// The other node did not read the rest of the log in time.
    case tooFarBehind
    /// The directory did not answer in time.
    case unreachable
}

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
    /// The instants, in nanoseconds since boot, since which standbys lack records that the log has, by their sessions.
    public var behind: [Int64: Int64]

    /// Makes a map; see the members.
    public init(
        session: Int64, url: String, nodes: [ClusterNode], owner: LogOwner?, behind: [Int64: Int64] = [:]
    ) {
        self.behind = behind
        self.session = session
        self.url = url
        self.nodes = nodes
        self.owner = owner
    }

    /// The node itself; nil until it has joined.
    public var own: ClusterNode? { nodes.first { $0.session == session } }

    /// The number of nodes to which the owner can hand the log over.
    public var fitStandbys: Int { nodes.count { $0.session != owner?.session && $0.isFit } }
}

/// The time until which this process may show what it holds. May be read on any thread.
///
/// Only the holder of a valid lease, among the processes on one storage, answers, streams and delivers: nobody takes
/// the log from the holder before the lease is over. The lease does not concern writes, which the storage itself
/// fences.
public final class Lease: Sendable {
    private let end = Atomic<Int64>(0)
    private let now: @Sendable () -> Int64

    /// Makes a lease that is over.
    ///
    /// - Parameter now: nanoseconds since boot, sleep included.
    public init(now: @escaping @Sendable () -> Int64 = Clocks.boottime) { self.now = now }

    /// Extends the lease until the instant `new`, in nanoseconds since boot; never shortens it. Called by one
    /// thread at a time.
    public func extend(until new: Int64) {
        if new > end.load(ordering: .relaxed) { end.store(new, ordering: .releasing) }
    }

    /// Ends the lease now. Called by one thread at a time.
    public func revoke() { end.store(0, ordering: .releasing) }

    /// Whether the lease is not over.
    public var isValid: Bool { remaining > 0 }

    /// Nanoseconds until the lease ends; 0 and less once it is over.
    public var remaining: Int64 { end.load(ordering: .acquiring) - now() }
}
