/// What a process of several on one storage knows of its place among them. Any thread.
public protocol ClusterPlace: Sendable {
    /// Until when this process may show what it holds.
    var lease: Lease { get }
    /// Where the process is reached that owns the partitions which this one does not own; nil where none is known.
    var owner: String? { get }
    /// How many partitions this process has taken since it started, and how many were taken from it.
    var takeovers: Int { get }
    var fenced: Int { get }
}
