/// How long everything takes, in nanoseconds.
///
/// The holder counts from before its beat was sent, the observer from after it has read that beat: if no clock runs over a
/// quarter faster than another, the lease is over before the session can be ended.
public enum MembershipTiming {
    /// From one beat to the next.
    public static let beatInterval: Int64 = 500_000_000
    /// How long a lease lasts from the sending of its beat.
    public static let lease: Int64 = 2_000_000_000
    /// How long a beat stays the same until its session is ended.
    public static let silence: Int64 = 2_500_000_000
    /// What the time between two successful reads counts at most, so that nobody is ended for an outage of the directory.
    public static let widestGap: Int64 = 750_000_000
    /// Until a call that failed is repeated, and until the directory is asked who owns the log where that is doubtful.
    public static let pause: Int64 = 100_000_000
    /// Until a log that could not be adopted is tried again.
    public static let adoptionPause: Int64 = 1_000_000_000
    /// How far beyond its clock a node promises that no later record comes.
    public static let promise: Int64 = 3_000_000_000
    /// How far a node's calendar may be from the others'.
    public static let skew: Int64 = 500_000_000
    /// How close it has to come again.
    public static let skewGone: Int64 = 400_000_000
    /// A beat that took longer says nothing about the directory's calendar.
    public static let widestMeasurement: Int64 = 250_000_000
    /// How long ended sessions that do not own the log are remembered.
    public static let memory: Int64 = 3_600_000_000_000
    /// From one look for such sessions to the next.
    public static let forgetInterval: Int64 = 600_000_000_000
}
