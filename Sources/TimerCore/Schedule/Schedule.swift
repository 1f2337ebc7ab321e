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
        case .cron: .cron
        case .watchdog: .watchdog
        }
    }

    /// The clock it counts by when none is asked for; calendar schedules allow no other.
    public var defaultClock: TimerClock {
        switch self {
        case .watchdog: .suspending
        default: isCalendar ? .wall : .continuous
        }
    }

    /// Whether it is tied to calendar instants, so that its clock is always the wall clock.
    public var isCalendar: Bool {
        switch self {
        case .at, .every(_, first: .at), .cron: true
        case .after, .every, .watchdog: false
        }
    }
}

extension Schedule {
    /// This schedule; where it has no earliest instant of its own, with that of `other`, if both have room for one.
    public func keepingFrom(of other: Schedule) -> Schedule {
        guard case .cron(let cron) = self, cron.from == nil, case .cron(let old) = other else { return self }
        return .cron(cron.starting(from: old.from))
    }
}
