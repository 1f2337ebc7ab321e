/// The readings of a node's clocks at one moment.
public struct ClusterInstant: Sendable, Equatable {
    /// Nanoseconds since boot, sleep included: everything is timed by it.
    public var boottime: Int64
    /// Nanoseconds since 1970: positions follow it, nothing is timed by it.
    public var realtime: Int64

    /// Makes an instant; see the members.
    public init(boottime: Int64, realtime: Int64) {
        self.boottime = boottime
        self.realtime = realtime
    }
}
