/// What a process of several on one storage knows of its place among them. Any thread.
public protocol ClusterPlace: Sendable {
    /// Until when this process may show what it holds.
    var lease: Lease { get }
    /// Where the process is reached that owns the log, unless this one does; nil where none is known.
    var owner: String? { get }
    /// Who takes part, and who owns the log; nil until this process has begun to join.
    var map: ClusterMap? { get }
    /// How many times this process has taken the log since it started, and how many times it was taken from it.
    var takeovers: Int { get }
    var fenced: Int { get }
}
