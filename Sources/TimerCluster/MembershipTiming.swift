/// The intervals and limits of a membership, in nanoseconds.
///
/// The holder counts from before its beat was sent, the observer from after it has read that beat: if no clock runs
/// over a quarter faster than another, the lease is over before the session can be ended.
public struct MembershipTiming: Sendable {
    /// The time from one beat to the next.
    public var beatInterval: Int64 = 500_000_000
    /// How long a lease lasts from the sending of its beat.
    public var lease: Int64 = 2_000_000_000
    /// How long a beat stays the same until its session is ended.
    public var silence: Int64 = 2_500_000_000
    /// The most that the time between two successful reads counts, so that no node is ended for an outage of the
    /// directory.
    public var widestGap: Int64 = 750_000_000
    /// The time until a failed call is repeated, and until the directory is asked again while the log's owner is
    /// doubtful.
    public var pause: Int64 = 100_000_000
    /// The time until a log that could not be adopted is tried again.
    public var adoptionPause: Int64 = 1_000_000_000
    /// How long a node leaves the log to others after it could not be used there.
    public var inability: Int64 = 60_000_000_000
    /// The time in which the next owner must have read the log before it is handed over.
    public var handOver: Int64 = 5_000_000_000
    /// The time from one beat to the next while the owner is leaving.
    public var handOverInterval: Int64 = 25_000_000
    /// How far beyond its clock a node promises that no later record comes.
    public var promise: Int64 = 3_000_000_000
    /// How far a node's calendar may be from the others'.
    public var skew: Int64 = 500_000_000
    /// How close a skewed calendar must come to count as right again.
    public var skewGone: Int64 = 400_000_000
    /// The longest time of a beat that measures the directory's calendar.
    public var widestMeasurement: Int64 = 250_000_000
    /// How long ended sessions that do not own the log are remembered.
    public var memory: Int64 = 3_600_000_000_000
    /// The time from one search for such sessions to the next.
    public var forgetInterval: Int64 = 600_000_000_000

    /// Makes the timing of a server.
    public init() {}
}

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
