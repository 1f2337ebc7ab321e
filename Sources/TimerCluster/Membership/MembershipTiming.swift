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
    /// Until a call that failed is repeated.
    public static let pause: Int64 = 100_000_000
    /// Until a partition that could not be adopted is tried again.
    public static let adoptionPause: Int64 = 1_000_000_000
    /// How far beyond its clock a node promises that no later record comes.
    public static let promise: Int64 = 3_000_000_000
    /// How far a node's calendar may be from the others'.
    public static let skew: Int64 = 500_000_000
    /// How close it has to come again.
    public static let skewGone: Int64 = 400_000_000
    /// A beat that took longer says nothing about the directory's calendar.
    public static let widestMeasurement: Int64 = 250_000_000
    /// How long ended sessions that own nothing are remembered.
    public static let memory: Int64 = 3_600_000_000_000
    /// From one look for such sessions to the next.
    public static let forgetInterval: Int64 = 600_000_000_000
    /// Most take-overs that one node has under way.
    public static let takesAtOnce = 16
    /// For how long the plan stays the same until an owner follows it by giving.
    public static let planSettles: Int64 = 5_000_000_000
    /// Most partitions that one node is giving.
    public static let givesAtOnce = 4
    /// From one question how far the target is to the next.
    public static let askInterval: Int64 = 200_000_000
    /// The owner stops serving once the target has found fewer rows than this in its last reading, so that what is left to read
    /// takes milliseconds.
    public static let rowsBehind = 100
    /// The age of the question that the target answers so, at most: more rows may have come since.
    public static let preparedAge: Int64 = 1_000_000_000
    /// How long a target may take to read a log.
    public static let giveTimeout: Int64 = 60_000_000_000
    /// Until a partition is given again whose target was not ready in time.
    public static let givePause: Int64 = 10_000_000_000
    /// How many times the directory is asked to give a partition, before its owner takes it back.
    public static let giveTries = 3
    /// Most logs that one node reads for others to give.
    public static let preparationsAtOnce = 8
    /// How long what was read of a log is kept without a question.
    public static let preparationMemory: Int64 = 10_000_000_000
    /// How long a node whose calendar is off may take to give its partitions; then its session ends.
    public static let skewPatience: Int64 = 30_000_000_000
}
