/// Everything about a timer that decides how it behaves, as its client set it.
public struct TimerRules: Sendable, Equatable {
    /// The schedule of the fires.
    public var schedule: Schedule
    /// The clock that the timer counts by.
    public var clock: TimerClock
    /// The calendar that the timer goes by; nil for none.
    public var calendar: CalendarRule?
    /// The instant that a repeating timer counts its next fire from.
    public var mode: RepeatMode = .fixedRate
    /// Whether creating the timer starts it.
    public var start: StartPolicy = .now
    /// The event that suspends the timer without a command; nil for none.
    public var stop: StopPolicy?
    /// The way in which `resume` treats the pause.
    public var onResume: ResumePolicy = .remaining
    /// The treatment of due instants missed in a gap.
    public var misfire: MisfirePolicy = .once
    /// The milliseconds after which a missed due instant is dropped whatever `misfire` is; nil for never.
    public var misfireGrace: Int64?
    /// The milliseconds by which a fire may be late so that it shares a wake-up with others.
    public var leeway: Int64 = 0
    /// The milliseconds within which a stable hash delays each fire.
    public var jitter: Int64 = 0
    /// The number of silent periods in a row after which a watchdog fires.
    public var misses: Int64 = 1
    /// Whether a watchdog fires again after each further silent period.
    public var repeatAlarm = false
    /// The number of fires since its activation after which the timer completes; nil for no bound.
    public var maxFires: Int64?
    /// The wall instant, in milliseconds, after which no fire is due; nil for none.
    public var until: Int64?
    /// Whether the timer can be activated again once it has ended.
    public var restartable = false
    /// The milliseconds for which the timer can be read once it has ended.
    public var retain: Int64 = TimerRules.defaultRetain
    /// The events that its webhook is sent; none without a webhook.
    public var deliveries: EventTypes = []

    /// The default of `retain`: 24 hours, in milliseconds.
    public static let defaultRetain: Int64 = 86_400_000

    /// Makes rules with every default, for `schedule`.
    public init(_ schedule: Schedule) {
        self.schedule = schedule
        clock = schedule.defaultClock
    }

    /// `onResume` as it takes effect: on the wall clock the due instant stays, so that `remaining` is `deadline`
    /// for all but watchdogs.
    public var effectiveResume: ResumePolicy {
        onResume == .remaining && clock == .wall && schedule.kind != .watchdog ? .deadline : onResume
    }

    /// Whether `other` plans its fires alike. A change of any of these members starts the full period again.
    func plansLike(_ other: TimerRules) -> Bool {
        schedule == other.schedule && clock == other.clock && mode == other.mode && misses == other.misses
            && calendar?.asSet == other.calendar?.asSet
    }

    /// Whether `other` plans its fires alike but for its calendar.
    func plansLikeUnlessByCalendar(_ other: TimerRules) -> Bool {
        var other = other
        other.calendar = calendar
        return plansLike(other)
    }

    /// Returns the last instant, in milliseconds on this timer's clock, at which a fire may be due.
    func lastDue(_ now: Now) -> Int64 { until.map { now.due(ofWall: $0, on: clock) } ?? .max }
}

/// The instant that a repeating timer counts its next fire from.
public enum RepeatMode: UInt8, Sendable, CaseIterable {
    /// The due instant before: fires stay on the grid, however late one was.
    case fixedRate = 0
    /// The fire before.
    case fixedDelay = 1

    /// The name on the wire.
    public var name: StaticString { self == .fixedRate ? "fixedRate" : "fixedDelay" }
}

/// Whether creating a timer starts it.
public enum StartPolicy: UInt8, Sendable, CaseIterable {
    /// The timer runs from the start.
    case now = 0
    /// The timer is idle until it is activated.
    case manual = 1
    /// The timer is idle until its first subscriber comes.
    case subscriber = 2

    /// The name on the wire.
    public var name: StaticString {
        switch self {
        case .now: "now"
        case .manual: "manual"
        case .subscriber: "subscriber"
        }
    }
}

/// The event that suspends a timer without a command.
public enum StopPolicy: UInt8, Sendable, CaseIterable {
    /// The last subscriber has left; the next one resumes the timer.
    case subscriber = 1

    /// The name on the wire.
    public var name: StaticString { "subscriber" }
}

/// The way in which `resume` treats the time for which a timer was suspended.
public enum ResumePolicy: UInt8, Sendable, CaseIterable {
    /// The time left at suspend is the time left at resume.
    case remaining = 0
    /// The grid stays; the due instants in the pause fire once at resume.
    case deadline = 1
    /// The grid stays; the due instants in the pause are dropped and counted.
    case skip = 2

    /// The name on the wire.
    public var name: StaticString {
        switch self {
        case .remaining: "remaining"
        case .deadline: "deadline"
        case .skip: "skip"
        }
    }
}

/// The treatment of due instants that passed while the fire loop was stalled, or that a step of the calendar skipped.
public enum MisfirePolicy: UInt8, Sendable, CaseIterable {
    /// One fire for all of them.
    case once = 0
    /// One fire for each, oldest first, paced; the latest `Scheduler.mostCaughtUp` at most.
    case all = 1
    /// No fire: all are dropped and counted.
    case skip = 2

    /// The name on the wire.
    public var name: StaticString {
        switch self {
        case .once: "once"
        case .all: "all"
        case .skip: "skip"
        }
    }
}

extension TimerRules {
    /// Whether the schedule, or the one that a watchdog awaits, is tied to calendar instants: those may fall into closed
    /// time.
    public var hasCalendarInstants: Bool { schedule.isCalendar || grace != nil }

    /// The place of due instants in closed time where the client names none: a single instant is not dropped.
    public var usualOnClosed: ClosedPolicy { if case .at = schedule { .next } else { .skip } }

    /// The milliseconds after an expected instant at which a watchdog that has a schedule fires; nil for others.
    public var grace: Int64? {
        guard case .expecting(_, let grace) = schedule else { return nil }
        return grace
    }

    /// The milliseconds of silence after which a watchdog fires, for one that has a schedule its grace; 0 for other
    /// kinds.
    public var silence: Int64 {
        if let grace { return grace }
        guard case .watchdog(let period) = schedule else { return 0 }
        let (product, overflow) = period.multipliedReportingOverflow(by: misses)
        return overflow ? Self.longestDuration : min(product, Self.longestDuration)
    }

    /// The longest duration: 36,525 days, in milliseconds.
    public static let longestDuration: Int64 = 36_525 * 86_400_000
}
