/// How long everything takes, in nanoseconds.
///
/// The holder counts from before its beat was sent, the observer from after it has read that beat: if no clock runs over a
/// quarter faster than another, the lease is over before the session can be ended.
public struct MembershipTiming: Sendable {
    /// From one beat to the next.
    public var beatInterval: Int64 = 500_000_000
    /// How long a lease lasts from the sending of its beat.
    public var lease: Int64 = 2_000_000_000
    /// How long a beat stays the same until its session is ended.
    public var silence: Int64 = 2_500_000_000
    /// What the time between two successful reads counts at most, so that nobody is ended for an outage of the directory.
    public var widestGap: Int64 = 750_000_000
    /// Until a call that failed is repeated, and until the directory is asked who owns the log where that is doubtful.
    public var pause: Int64 = 100_000_000
    /// Until a log that could not be adopted is tried again.
    public var adoptionPause: Int64 = 1_000_000_000
    /// How far beyond its clock a node promises that no later record comes.
    public var promise: Int64 = 3_000_000_000
    /// How far a node's calendar may be from the others'.
    public var skew: Int64 = 500_000_000
    /// How close it has to come again.
    public var skewGone: Int64 = 400_000_000
    /// A beat that took longer says nothing about the directory's calendar.
    public var widestMeasurement: Int64 = 250_000_000
    /// How long ended sessions that do not own the log are remembered.
    public var memory: Int64 = 3_600_000_000_000
    /// From one look for such sessions to the next.
    public var forgetInterval: Int64 = 600_000_000_000

    /// The timing of a server.
    public init() {}
}
