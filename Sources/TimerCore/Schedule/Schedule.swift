/// The rule for when a timer fires. Durations and instants are whole milliseconds; wall instants count from 1970.
public enum Schedule: Sendable, Equatable {
    /// Once, the given time after activation.
    case after(Int64)
    /// Once, at a wall instant; a past one is due at once.
    case at(Int64)
    /// Again and again, one period apart.
    case every(Int64, first: First)
    /// At the local times that a cron expression names. Boxed, so that the other kinds stay small.
    indirect case cron(CronSchedule)
    /// After the given time without a kick.
    case watchdog(Int64)
    /// Without a kick by `grace` after an instant of another schedule, a cron one. Boxed.
    indirect case expecting(Schedule, grace: Int64)

    /// The start of a repeating schedule.
    public enum First: Sendable, Equatable {
        /// One period after activation.
        case period
        /// The given time after activation.
        case after(Int64)
        /// On the wall-clock grid through this instant, at the first point not before activation.
        case at(Int64)
        /// On the grid through this instant, like `at`, that keeps the local time of the instant in a zone, by its
        /// IANA name. The period is whole days.
        indirect case local(Int64, zone: [UInt8])
    }

    /// The milliseconds in a day; the period of a grid that keeps a local time is a multiple of that.
    public static let day: Int64 = 86_400_000

    /// The kind of a timer with this schedule.
    public var kind: TimerKind {
        switch self {
        case .after, .at: .oneShot
        case .every: .repeating
        case .cron: .cron
        case .watchdog, .expecting: .watchdog
        }
    }

    /// The clock that a timer counts by when its client asks for none; calendar schedules allow no other.
    public var defaultClock: TimerClock {
        switch self {
        case .watchdog, .expecting: .suspending
        default: isCalendar ? .wall : .continuous
        }
    }

    /// Whether the schedule is tied to calendar instants, so that its clock is always the wall clock.
    public var isCalendar: Bool {
        switch self {
        case .at, .every(_, first: .at), .every(_, first: .local), .cron: true
        case .after, .every, .watchdog, .expecting: false
        }
    }

    /// Whether the schedule is a grid that keeps the local time of a zone.
    public var keepsLocalTime: Bool {
        if case .every(_, first: .local) = self { true } else { false }
    }

    /// The IANA name of the time zone that the schedule names; nil for none.
    var zone: [UInt8]? {
        switch self {
        case .cron(let cron): cron.zone
        case .every(_, first: .local(_, let zone)): zone
        case .expecting(let schedule, _): schedule.zone
        case .after, .at, .every, .watchdog: nil
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

extension Schedule {
    /// The cron expression as its client spelled it; nil if there is none.
    var expression: [UInt8]? {
        switch self {
        case .cron(let cron): cron.text
        case .expecting(let schedule, _): schedule.expression
        case .after, .at, .every, .watchdog: nil
        }
    }

    /// Returns this schedule, with the earliest instant of `other` if this one has none and both are of a kind that
    /// can have one.
    public func keepingFrom(of other: Schedule) -> Schedule {
        switch (self, other) {
        case (.cron(let cron), .cron(let old)): cron.from == nil ? .cron(cron.starting(from: old.from)) : self
        case (.expecting(let schedule, let grace), .expecting(let old, _)):
            .expecting(schedule.keepingFrom(of: old), grace: grace)
        default: self
        }
    }
}
