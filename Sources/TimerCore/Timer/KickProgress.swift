/// What a watchdog has beside a timer's progress.
public struct KickProgress: Sendable, Equatable, BitwiseCopyable {
    /// Wall milliseconds of the last kick; before the first, of when it was set going. 0 before both.
    public var silentSince: Int64 = 0
    /// Kicks so far.
    public var kickCount: Int64 = 0
    /// Since when it is stalled, in milliseconds on its clock: its first alarm since the last kick.
    public var stalledSince: Int64 = 0
    /// Of one that has a schedule: the wall instant, in milliseconds, since which the grace counts; 0 while it does not.
    public var graceFrom: Int64 = 0
    /// How many further instants of its schedule passed before the grace began, as the fire loop stood still: they share it.
    public var sharedGrace: Int64 = 0

    /// A watchdog that was just made.
    public init() {}

    /// Wall milliseconds of the last kick, 0 before the first.
    public var lastKickedAt: Int64 { kickCount > 0 ? silentSince : 0 }
}
