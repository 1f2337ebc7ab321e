/// The rest of a watchdog's progress, beside that of any timer.
public struct KickProgress: Sendable, Equatable, BitwiseCopyable {
    /// The wall milliseconds of the last kick, or, before the first, of the watchdog's start; 0 before both.
    public var silentSince: Int64 = 0
    /// The number of kicks so far.
    public var kickCount: Int64 = 0
    /// The due instant, in milliseconds on the watchdog's clock, of the first alarm since the last kick; 0 if there
    /// was none.
    public var stalledSince: Int64 = 0
    /// The wall instant, in milliseconds, from which the grace of a watchdog with a schedule counts; 0 while none
    /// counts.
    public var graceFrom: Int64 = 0
    /// The number of further instants of the schedule that passed before the grace began, as the fire loop was
    /// stalled or the calendar stepped: they share the grace.
    public var sharedGrace: Int64 = 0

    /// Makes the progress of a new watchdog.
    public init() {}

    /// The wall milliseconds of the last kick; 0 before the first.
    public var lastKickedAt: Int64 { kickCount > 0 ? silentSince : 0 }
}
