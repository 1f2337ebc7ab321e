/// When a timer fires. Durations and instants are whole milliseconds; wall instants count from 1970.
///
/// Cron expressions and watchdogs will be further cases: what asks "when" asks here.
public enum Schedule: Sendable, Equatable {
    /// Once, that long after activation.
    case after(Int64)
    /// Once, at a wall instant; a past one is due at once.
    case at(Int64)
    /// Again and again, `period` apart.
    case every(Int64, first: First)

    /// Where a repeating schedule begins.
    public enum First: Sendable, Equatable {
        /// One period after activation.
        case period
        /// That long after activation.
        case after(Int64)
        /// On the wall-clock grid through this instant: the first point of it not before activation.
        case at(Int64)
    }

    /// What kind of timer this makes.
    public var kind: TimerKind {
        switch self {
        case .after, .at: .oneShot
        case .every: .repeating
        }
    }

    /// The clock it counts by when none is asked for; calendar schedules allow no other.
    public var defaultClock: TimerClock { isCalendar ? .wall : .continuous }

    /// Whether it is tied to calendar instants, so that its clock is always the wall clock.
    public var isCalendar: Bool {
        switch self {
        case .at, .every(_, first: .at): true
        case .after, .every: false
        }
    }

    /// Milliseconds between fires; 0 for a one-shot.
    var period: Int64 {
        if case .every(let period, _) = self { return period }
        return 0
    }

    /// The first due instant, in milliseconds on `clock`, of a timer activated at `now`.
    func firstDue(activatedAt now: Now, on clock: TimerClock) -> Int64 {
        switch self {
        case .after(let delay), .every(let delay, first: .period), .every(_, first: .after(let delay)):
            return now.ceiling(on: clock) + delay
        case .at(let instant):
            return instant
        case .every(let period, first: .at(let start)):
            let earliest = now.ceiling(on: clock)
            return start >= earliest ? start : start - floorDivide(start - earliest, period) * period
        }
    }
}

/// The kinds of timer, as shown to clients.
public enum TimerKind: Sendable, CaseIterable {
    case oneShot, repeating, cron, watchdog

    /// The name on the wire.
    public var name: StaticString {
        switch self {
        case .oneShot: "oneShot"
        case .repeating: "repeating"
        case .cron: "cron"
        case .watchdog: "watchdog"
        }
    }
}

/// What a repeating timer counts its next fire from.
public enum RepeatMode: UInt8, Sendable, CaseIterable {
    /// The grid: fires stay on it however late one was.
    case fixedRate = 0
    /// The fire before.
    case fixedDelay = 1

    /// The name on the wire.
    public var name: StaticString { self == .fixedRate ? "fixedRate" : "fixedDelay" }
}

/// What `resume` makes of the time a timer was suspended.
public enum ResumePolicy: UInt8, Sendable, CaseIterable {
    /// The time left at suspend is the time left at resume.
    case remaining = 0
    /// The grid stays; what fell into the pause fires once at resume.
    case deadline = 1
    /// The grid stays; what fell into the pause is dropped and counted.
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

/// Whether creating a timer sets it going.
public enum StartPolicy: UInt8, Sendable, CaseIterable {
    /// It runs from the start.
    case now = 0
    /// It is idle until it is activated.
    case manual = 1

    /// The name on the wire.
    public var name: StaticString { self == .now ? "now" : "manual" }
}

/// Everything about a timer that decides how it behaves, as its client set it.
public struct TimerRules: Sendable, Equatable {
    /// When it fires.
    public var schedule: Schedule
    /// What it counts by.
    public var clock: TimerClock
    /// For repeating timers.
    public var mode: RepeatMode = .fixedRate
    /// Whether it runs from the start.
    public var start: StartPolicy = .now
    /// What a pause does.
    public var onResume: ResumePolicy = .remaining
    /// Completes after so many fires since its activation.
    public var maxFires: Int64?
    /// Wall instant, in milliseconds, after which no fire is due.
    public var until: Int64?
    /// Whether it can be activated again once it ended.
    public var restartable = false
    /// Milliseconds it can be read once it ended.
    public var retain: Int64 = TimerRules.defaultRetain

    /// 24 hours.
    public static let defaultRetain: Int64 = 86_400_000

    /// Rules with every default, for `schedule`.
    public init(_ schedule: Schedule) {
        self.schedule = schedule
        clock = schedule.defaultClock
    }

    /// `onResume` as it works: time left means nothing on the wall clock, where the due instant stays.
    public var effectiveResume: ResumePolicy { onResume == .remaining && clock == .wall ? .deadline : onResume }

    /// Whether `other` plans its fires alike: a change of any of these counts the full period anew.
    func plansLike(_ other: TimerRules) -> Bool {
        schedule == other.schedule && clock == other.clock && mode == other.mode
    }

    /// The last instant on this timer's clock, in milliseconds, a fire may be due at.
    func lastDue(_ now: Now) -> Int64 { until.map { now.due(ofWall: $0, on: clock) } ?? .max }
}
