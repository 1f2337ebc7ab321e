/// The part of a timer that changes as it runs: its state, its next due instant, its counts. The part that the
/// client set is the definition, with `TimerRules`.
///
/// Every record of a change carries the progress whole, so that recovery copies and decides nothing.
public struct TimerProgress: Sendable, Equatable, BitwiseCopyable {
    /// The version, which grows with every change; at least 1 once the timer is made.
    public var version: Int64 = 0
    /// The wall milliseconds of the last change.
    public var updatedAt: Int64 = 0
    /// The next due instant, in milliseconds on the timer's clock, of a running timer, or of a suspended one that
    /// keeps its grid; the microseconds left, of a suspended one that keeps its remaining time; the milliseconds on
    /// the elapsed clock at which an ended one is forgotten.
    public var due: Int64 = 0
    /// The wall milliseconds of the last fire; 0 before the first.
    public var lastFiredAt: Int64 = 0
    /// The number of `fired` events so far, over every activation.
    public var fireCount: Int64 = 0
    /// The number of due instants that got no `fired` of their own.
    public var missedCount: Int64 = 0
    /// The number of `fired` events since the last activation.
    public var firesSinceActivation: Int64 = 0
    /// The state.
    public var state: TimerState = .idle
    /// Properties beside the state.
    public var flags: Flags = []
    /// The edition of the timer's calendar by which `due` was planned; 0 without a calendar.
    public var edition: UInt8 = 0

    /// Makes the progress of a new timer.
    public init() {}

    /// Properties of a timer beside its state.
    public struct Flags: OptionSet, Sendable, BitwiseCopyable {
        /// The bits.
        public var rawValue: UInt8
        /// Makes a set of bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// A watchdog that fired and was not kicked since.
        public static let stalled = Flags(rawValue: 1)
        /// A watchdog that runs without a planned fire: stalled without `repeatAlarm`, or with no further instant
        /// in its schedule.
        public static let unplanned = Flags(rawValue: 2)
        /// A client moved the next due instant, so that it need not be one of the schedule's own.
        public static let moved = Flags(rawValue: 4)
        /// The receiver of the timer's webhook answered that it wants no more (410).
        public static let webhookStopped = Flags(rawValue: 8)
        /// The timer is suspended because its last subscriber left: the next one resumes it.
        public static let unsubscribed = Flags(rawValue: 16)
        /// A watchdog that waits for an instant of its schedule, before the grace: `due` is that instant, wall
        /// milliseconds.
        public static let awaiting = Flags(rawValue: 32)
        /// The timer's grid keeps the local time to which a client moved `due`, not that of the schedule.
        public static let ownGrid = Flags(rawValue: 64)
        /// With `ownGrid`: `due` is the instant of a local time that the clocks leave out.
        public static let readInGap = Flags(rawValue: 128)
    }

    /// Whether a fire is planned, at `due`.
    public var isPlanned: Bool { state == .running && !flags.contains(.unplanned) }

    /// Whether the timer is a watchdog that alarms now.
    public var isAlarming: Bool { state == .running && flags.contains(.stalled) }

    /// Returns the clock that `due` is an instant of; `clock` is the timer's.
    public func dueClock(_ clock: TimerClock) -> TimerClock { flags.contains(.awaiting) ? .wall : clock }

    /// Returns the instant at which the planned fire is due, in milliseconds on the timer's clock. Before the grace
    /// of a watchdog begins, that is an estimate for a server that stays up.
    public func fireDue(_ rules: borrowing TimerRules, _ now: Now) -> Int64 {
        guard flags.contains(.awaiting) else { return due }
        return now.due(ofWall: max(due, now.wall), on: rules.clock) + rules.silence
    }

    /// Returns the wall instant, in milliseconds, at which the next fire is planned; nil for none. A watchdog whose
    /// period would end after `until` completes there without one, and a timer whose calendar moved its instant there.
    public func nextFireAt(_ rules: borrowing TimerRules, _ now: Now) -> Int64? {
        guard isPlanned else { return nil }
        let wall = now.wall(of: fireDue(rules, now), on: rules.clock)
        guard wall <= lastInstant else { return nil }
        if let until = rules.until, wall > until, rules.schedule.kind == .watchdog || rules.calendar != nil {
            return nil
        }
        return wall
    }
}

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
