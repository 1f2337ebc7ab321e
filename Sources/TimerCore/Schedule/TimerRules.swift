/// Everything about a timer that decides how it behaves, as its client set it.
public struct TimerRules: Sendable, Equatable {
    /// When it fires.
    public var schedule: Schedule
    /// The clock it counts by.
    public var clock: TimerClock
    /// For repeating timers.
    public var mode: RepeatMode = .fixedRate
    /// Whether it runs from the start.
    public var start: StartPolicy = .now
    /// When it is suspended without a command; nil for never.
    public var stop: StopPolicy?
    /// What `resume` does about the pause.
    public var onResume: ResumePolicy = .remaining
    /// What becomes of due instants missed in a gap.
    public var misfire: MisfirePolicy = .once
    /// Milliseconds after which a missed due instant is dropped whatever `misfire` says; nil for never.
    public var misfireGrace: Int64?
    /// Milliseconds a fire may be late so that it shares a wake-up with others.
    public var leeway: Int64 = 0
    /// Milliseconds within which a stable hash delays each fire.
    public var jitter: Int64 = 0
    /// How many silent periods in a row a watchdog fires after.
    public var misses: Int64 = 1
    /// Whether a watchdog fires again each further silent period.
    public var repeatAlarm = false
    /// Completes after so many fires since its activation.
    public var maxFires: Int64?
    /// Wall instant, in milliseconds, after which no fire is due.
    public var until: Int64?
    /// Whether it can be activated again once it ended.
    public var restartable = false
    /// Milliseconds it can be read once it ended.
    public var retain: Int64 = TimerRules.defaultRetain
    /// The events that its webhook is sent; none without a webhook.
    public var deliveries: EventTypes = []

    /// 24 hours.
    public static let defaultRetain: Int64 = 86_400_000

    /// Rules with every default, for `schedule`.
    public init(_ schedule: Schedule) {
        self.schedule = schedule
        clock = schedule.defaultClock
    }

    /// `onResume` as it takes effect: on the wall clock the due instant stays, so that `remaining` is `deadline`.
    public var effectiveResume: ResumePolicy {
        onResume == .remaining && clock == .wall && schedule.kind != .watchdog ? .deadline : onResume
    }

    /// Whether `other` plans its fires alike. A change of any of these members counts the full period anew.
    func plansLike(_ other: TimerRules) -> Bool {
        schedule == other.schedule && clock == other.clock && mode == other.mode && misses == other.misses
    }

    /// The last instant on this timer's clock, in milliseconds, a fire may be due at.
    func lastDue(_ now: Now) -> Int64 { until.map { now.due(ofWall: $0, on: clock) } ?? .max }
}

extension TimerRules {
    /// Milliseconds after an expected instant at which a watchdog that has a schedule fires; nil for others.
    public var grace: Int64? {
        guard case .expecting(_, let grace) = schedule else { return nil }
        return grace
    }

    /// Milliseconds of silence after which a watchdog fires; of one that has a schedule, its grace.
    public var silence: Int64 {
        if let grace { return grace }
        guard case .watchdog(let period) = schedule else { return 0 }
        let (product, overflow) = period.multipliedReportingOverflow(by: misses)
        return overflow ? Self.longestDuration : min(product, Self.longestDuration)
    }

    /// 36,525 days: no duration is longer.
    public static let longestDuration: Int64 = 36_525 * 86_400_000
}
