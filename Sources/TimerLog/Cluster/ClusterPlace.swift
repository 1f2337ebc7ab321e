public import Platform

/// What a process of several on one storage knows of its place among them. Any thread.
public protocol ClusterPlace: Sendable {
    /// Until when this process may show what it holds.
    var lease: Lease { get }
    /// Where the process is reached that owns the partitions which this one does not own; nil where none is known.
    var owner: String? { get }
    /// Who takes part, and who owns what; nil until this process has begun to join.
    var map: ClusterMap? { get }
    /// Where requests for partitions of other processes are forwarded.
    var routes: Published<ClusterRoutes> { get }
    /// Calls `body` whenever `routes` has changed. Any thread.
    func observeRoutes(_ body: @escaping @Sendable () -> Void)
    /// Whether a process that owns some of the partitions answers for those, and has other processes answer for the rest.
    var isSpread: Bool { get }
    /// Takes out what is to be said to other processes, each with the session that it is for. A message may be lost.
    func takeMessages() -> [(session: Int64, bytes: [UInt8])]
    /// Calls `body` whenever there is something to say. Any thread.
    func observeMessages(_ body: @escaping @Sendable () -> Void)
    /// Another process has said something. Returns false where it makes no sense.
    func heard(_ message: [UInt8]) -> Bool
    /// How many partitions this process has taken since it started, and how many were taken from it.
    var takeovers: Int { get }
    var fenced: Int { get }
}

extension ClusterPlace {
    /// One process answers for all partitions.
    public var isSpread: Bool { false }
    /// Nothing.
    public func takeMessages() -> [(session: Int64, bytes: [UInt8])] { [] }
    /// Does nothing.
    public func observeMessages(_ body: @escaping @Sendable () -> Void) {}
    /// Nothing makes sense.
    public func heard(_ message: [UInt8]) -> Bool { false }
}
