/// The part of a timer that changes as it runs: its state, its next due instant, its counts. What its client set is its
/// definition, with `TimerRules`.
///
/// Every record of the log carries it whole, so that recovery copies and decides nothing.
public struct TimerProgress: Sendable, Equatable, BitwiseCopyable {
    /// Grows with every change, 1 at the least.
    public var version: Int64 = 0
    /// Wall milliseconds of the last change.
    public var updatedAt: Int64 = 0
    /// Running, or suspended with its grid kept: the next due instant, in milliseconds on its clock. Suspended with
    /// its remaining time kept: microseconds left. Ended: milliseconds on the elapsed clock at which it is forgotten.
    public var due: Int64 = 0
    /// Wall milliseconds of the last fire, 0 before the first.
    public var lastFiredAt: Int64 = 0
    /// `fired` events so far, over every activation.
    public var fireCount: Int64 = 0
    /// Due instants that got no `fired` of their own.
    public var missedCount: Int64 = 0
    /// `fired` events since the last activation.
    public var firesSinceActivation: Int64 = 0
    /// Its state.
    public var state: TimerState = .idle
    /// What else is true of it.
    public var flags: Flags = []

    /// A timer that was just made.
    public init() {}

    /// What is true of a timer beside its state.
    public struct Flags: OptionSet, Sendable, BitwiseCopyable {
        /// The bits.
        public var rawValue: UInt8
        /// Makes a set of bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// A watchdog that fired and was not kicked since.
        public static let stalled = Flags(rawValue: 1)
        /// It runs, and yet no fire is planned: a stalled watchdog without `repeatAlarm`.
        public static let unplanned = Flags(rawValue: 2)
        /// A client moved the next due instant, so that it need not be one of the schedule's own.
        public static let moved = Flags(rawValue: 4)
        /// The receiver of its webhook said that it wants no more (410).
        public static let webhookStopped = Flags(rawValue: 8)
        /// It is suspended because its last subscriber left: the next one resumes it.
        public static let unsubscribed = Flags(rawValue: 16)
        /// A watchdog that waits for an instant of its schedule, before the grace: `due` is that instant, wall milliseconds.
        public static let awaiting = Flags(rawValue: 32)
        /// Its grid keeps the local time of `due`, as a client moved it, and not that of the schedule.
        public static let ownGrid = Flags(rawValue: 64)
        /// With `ownGrid`: `due` stands for a local time that the clocks leave out.
        public static let readInGap = Flags(rawValue: 128)
    }

    /// Whether a fire is planned, at `due`.
    public var isPlanned: Bool { state == .running && !flags.contains(.unplanned) }

    /// Whether it is a watchdog that alarms now.
    public var isAlarming: Bool { state == .running && flags.contains(.stalled) }

    /// The clock that `due` is an instant of; `clock` is the timer's.
    public func dueClock(_ clock: TimerClock) -> TimerClock { flags.contains(.awaiting) ? .wall : clock }

    /// When the planned fire is due, in milliseconds on the timer's clock. Before the grace of a watchdog begins that is an
    /// estimate, for a server that stays up.
    public func fireDue(_ rules: borrowing TimerRules, _ now: Now) -> Int64 {
        guard flags.contains(.awaiting) else { return due }
        return now.due(ofWall: max(due, now.wall), on: rules.clock) + rules.silence
    }

    /// The wall instant, in milliseconds, at which the next fire is planned; nil for none. A watchdog whose period
    /// would end after `until` completes there without one.
    public func nextFireAt(_ rules: borrowing TimerRules, _ now: Now) -> Int64? {
        guard isPlanned else { return nil }
        let wall = now.wall(of: fireDue(rules, now), on: rules.clock)
        if let until = rules.until, wall > until, rules.schedule.kind == .watchdog { return nil }
        return wall
    }
}
