/// When a timer fires. Durations and instants are whole milliseconds; wall instants count from 1970.
public enum Schedule: Sendable, Equatable {
    /// Once, that long after activation.
    case after(Int64)
    /// Once, at a wall instant; a past one is due at once.
    case at(Int64)
    /// Again and again, `period` apart.
    case every(Int64, first: First)
    /// At the local times that a cron expression names. Boxed, so that the other kinds stay small.
    indirect case cron(CronSchedule)
    /// When it is not kicked for that long.
    case watchdog(Int64)
    /// When it is not kicked until `grace` after an instant of another schedule, a cron one. Boxed.
    indirect case expecting(Schedule, grace: Int64)

    /// Where a repeating schedule begins.
    public enum First: Sendable, Equatable {
        /// One period after activation.
        case period
        /// That long after activation.
        case after(Int64)
        /// On the wall-clock grid through this instant: the first point of it not before activation.
        case at(Int64)
        /// As `at`, but with the local time that the instant has in a zone, by its IANA name. The period is whole days.
        indirect case local(Int64, zone: [UInt8])
    }

    /// Milliseconds in a day; the period of a grid that keeps a local time is so many of them.
    public static let day: Int64 = 86_400_000

    /// What kind of timer this makes.
    public var kind: TimerKind {
        switch self {
        case .after, .at: .oneShot
        case .every: .repeating
        case .cron: .cron
        case .watchdog, .expecting: .watchdog
        }
    }

    /// The clock it counts by when none is asked for; calendar schedules allow no other.
    public var defaultClock: TimerClock {
        switch self {
        case .watchdog, .expecting: .suspending
        default: isCalendar ? .wall : .continuous
        }
    }

    /// Whether it is tied to calendar instants, so that its clock is always the wall clock.
    public var isCalendar: Bool {
        switch self {
        case .at, .every(_, first: .at), .every(_, first: .local), .cron: true
        case .after, .every, .watchdog, .expecting: false
        }
    }

    /// Whether it is a grid that keeps the local time of a zone.
    public var keepsLocalTime: Bool {
        if case .every(_, first: .local) = self { true } else { false }
    }

    /// The IANA name of the time zone it speaks of; nil for none.
    var zone: [UInt8]? {
        switch self {
        case .cron(let cron): cron.zone
        case .every(_, first: .local(_, let zone)): zone
        case .expecting(let schedule, _): schedule.zone
        case .after, .at, .every, .watchdog: nil
        }
    }
}

extension Schedule {
    /// The cron expression as its client spelled it; nil where there is none.
    var expression: [UInt8]? {
        switch self {
        case .cron(let cron): cron.text
        case .expecting(let schedule, _): schedule.expression
        case .after, .at, .every, .watchdog: nil
        }
    }

    /// This schedule; where it has no earliest instant of its own, with that of `other`, if both have room for one.
    public func keepingFrom(of other: Schedule) -> Schedule {
        switch (self, other) {
        case (.cron(let cron), .cron(let old)): cron.from == nil ? .cron(cron.starting(from: old.from)) : self
        case (.expecting(let schedule, let grace), .expecting(let old, _)):
            .expecting(schedule.keepingFrom(of: old), grace: grace)
        default: self
        }
    }
}
