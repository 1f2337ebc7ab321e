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
}
