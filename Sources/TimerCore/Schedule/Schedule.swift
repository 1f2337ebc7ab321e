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
    /// At the instants of a recurrence rule. Boxed, like a cron schedule.
    indirect case recurrence(RecurrenceSchedule)
    /// After the given time without a kick.
    case watchdog(Int64)
    /// Without a kick by `grace` after an instant of another schedule, a cron or recurrence one. Boxed.
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
        case .recurrence: .recurrence
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
        case .at, .every(_, first: .at), .every(_, first: .local), .cron, .recurrence: true
        case .after, .every, .watchdog, .expecting: false
        }
    }

    /// Whether the schedule is a grid that keeps the local time of a zone.
    public var keepsLocalTime: Bool {
        if case .every(_, first: .local) = self { true } else { false }
    }

    /// Whether the schedule names a time zone.
    var namesZone: Bool {
        switch self {
        case .cron, .recurrence, .expecting, .every(_, first: .local): true
        case .after, .at, .every, .watchdog: false
        }
    }

    /// The IANA name of the time zone that the schedule names; nil for none.
    var zone: [UInt8]? {
        switch self {
        case .cron(let cron): cron.zone
        case .recurrence(let recurrence): recurrence.zone
        case .every(_, first: .local(_, let zone)): zone
        case .expecting(let schedule, _): schedule.zone
        case .after, .at, .every, .watchdog: nil
        }
    }
}

/// The kinds of timer, as shown to clients.
public enum TimerKind: Sendable, CaseIterable {
    case oneShot, repeating, cron, recurrence, watchdog

    /// The name on the wire.
    public var name: StaticString {
        switch self {
        case .oneShot: "oneShot"
        case .repeating: "repeating"
        case .cron: "cron"
        case .recurrence: "recurrence"
        case .watchdog: "watchdog"
        }
    }
}

extension Schedule {
    /// The cron expression or recurrence rule as its client spelled it; nil if there is none.
    var expression: [UInt8]? {
        switch self {
        case .cron(let cron): cron.text
        case .recurrence(let recurrence): recurrence.text
        case .expecting(let schedule, _): schedule.expression
        case .after, .at, .every, .watchdog: nil
        }
    }

    /// The earliest instant of a cron schedule, or the start of a recurrence; nil where there is none.
    public var from: Int64? {
        switch self {
        case .cron(let cron): cron.from
        case .recurrence(let recurrence): recurrence.from == RecurrenceSchedule.unset ? nil : recurrence.from
        case .expecting(let schedule, _): schedule.from
        case .after, .at, .every, .watchdog: nil
        }
    }

    /// Returns this schedule with the `from` of `other`, if that has one and this kind can have one.
    public func keepingFrom(of other: Schedule) -> Schedule {
        guard let from = other.from else { return self }
        return switch self {
        case .cron(let cron): .cron(cron.starting(from: from))
        case .recurrence(let recurrence): .recurrence(recurrence.starting(from: from))
        case .expecting(let schedule, let grace): .expecting(schedule.keepingFrom(of: other), grace: grace)
        case .after, .at, .every, .watchdog: self
        }
    }

    /// Returns this schedule with its start at an instant, if it begins with the step that makes or changes its timer.
    func begun(at wall: Int64, in zones: any ZoneSource) -> Schedule {
        switch self {
        case .recurrence(let recurrence) where recurrence.from == RecurrenceSchedule.unset:
            .recurrence(recurrence.begun(at: wall, in: zones))
        case .expecting(let schedule, let grace): .expecting(schedule.begun(at: wall, in: zones), grace: grace)
        case .after, .at, .every, .cron, .recurrence, .watchdog: self
        }
    }

    /// The schedule whose instants a watchdog awaits; for other kinds the schedule itself.
    var awaited: Schedule { if case .expecting(let schedule, _) = self { schedule } else { self } }

    /// Whether the schedule names its instants one by one, so that they do not move with a fire that a client moves.
    var namesInstants: Bool {
        switch self {
        case .cron, .recurrence: true
        case .after, .at, .every, .watchdog, .expecting: false
        }
    }

    /// Returns the first instant after `instant` of a schedule that names its instants, or of the one that a watchdog
    /// has, in wall milliseconds; nil when none follows, and for any other schedule.
    func next(after instant: Int64, in zone: TimeZoneTable) -> Int64? {
        switch self {
        case .cron(let cron): cron.next(after: instant, in: zone)
        case .recurrence(let recurrence): recurrence.next(after: instant, in: zone)
        case .expecting(let schedule, _): schedule.next(after: instant, in: zone)
        case .after, .at, .every, .watchdog: nil
        }
    }

    /// Returns the last instant at or before `end` of those after `start`, and how many there are; nil when there is
    /// none. See ``next(after:in:)``.
    func latest(after start: Int64, through end: Int64, in zone: TimeZoneTable) -> (instant: Int64, count: Int64)? {
        switch self {
        case .cron(let cron): cron.latest(after: start, through: end, in: zone)
        case .recurrence(let recurrence): recurrence.latest(after: start, through: end, in: zone)
        case .expecting(let schedule, _): schedule.latest(after: start, through: end, in: zone)
        case .after, .at, .every, .watchdog: nil
        }
    }
}
