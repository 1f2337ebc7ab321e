/// A timer's progress as it goes from one server to another: instants that do not depend on a server's own clocks.
public struct TimerArrival: Sendable, Equatable {
    /// The instant at which the next fire is due, or the time that a suspended timer keeps.
    public enum Due: Sendable, Equatable {
        /// A wall instant, in milliseconds, at which the timer is due or, if it has ended, forgotten.
        case at(Int64)
        /// Milliseconds from now on the suspending clock; negative if the timer is overdue.
        case ahead(Int64)
        /// Microseconds that a suspended timer keeps.
        case left(Int64)
        /// No instant: the timer is idle, or not stalled.
        case none
    }

    /// The progress, but for the instants below.
    public var progress: TimerProgress
    /// The due instant: see `Due`.
    public var due: Due
    /// The rest of a watchdog's progress, but for the instant below; nil for other kinds.
    public var kicks: KickProgress?
    /// The instant since which a watchdog is stalled.
    public var stalledSince: Due = .none
    /// The instant at which the timer was made, in wall milliseconds.
    public var createdAt: Int64

    /// Makes an arrival; see the members.
    public init(_ progress: TimerProgress, due: Due, kicks: KickProgress?, createdAt: Int64) {
        self.progress = progress
        self.due = due
        self.kicks = kicks
        self.createdAt = createdAt
    }

    /// Makes the arrival of a timer that leaves at `now`, with these rules and this progress.
    public init(
        _ progress: TimerProgress, _ kicks: KickProgress?, _ rules: borrowing TimerRules, createdAt: Int64, at now: Now
    ) {
        self.init(progress, due: .none, kicks: kicks, createdAt: createdAt)
        switch Self.form(progress, rules) {
        case .none: due = .none
        case .left: due = .left(progress.due)
        case .at where progress.state.hasEnded: due = Self.due(progress.due, on: .continuous, now)
        case .at, .ahead: due = Self.due(progress.due, on: progress.dueClock(rules.clock), now)
        }
        if let kicks, kicks.stalledSince != 0 { stalledSince = Self.due(kicks.stalledSince, on: rules.clock, now) }
    }

    /// The forms that `due` has, without the values.
    public enum Form: Sendable { case at, ahead, left, none }

    /// Returns the form of the due instant of a timer of these rules, in the state and with the flags of `progress`.
    public static func form(_ progress: TimerProgress, _ rules: borrowing TimerRules) -> Form {
        switch progress.state {
        case .idle: .none
        case .suspended where rules.schedule.kind == .watchdog || rules.effectiveResume == .remaining: .left
        case .running, .suspended: progress.dueClock(rules.clock) == .suspending ? .ahead : .at
        case .cancelled, .completed: .at
        }
    }

    private static func due(_ due: Int64, on clock: TimerClock, _ now: Now) -> Due {
        clock == .suspending ? .ahead(due - now.milliseconds(on: clock)) : .at(now.wall(of: due, on: clock))
    }

    /// Returns the instant on `clock`, rounded up so that no fire is early; a time left as it is.
    private static func instant(_ due: Due, on clock: TimerClock, _ now: Now) -> Int64 {
        switch due {
        case .at(let wall): now.due(ofWall: wall, on: clock)
        case .ahead(let milliseconds): now.ceiling(on: clock) + milliseconds
        case .left(let microseconds): microseconds
        case .none: 0
        }
    }

    /// Returns the progress of the timer as it arrives at `now`, by the clocks of this server.
    func arrived(_ rules: borrowing TimerRules, at now: Now) -> (TimerProgress, KickProgress?) {
        var progress = progress
        progress.due = Self.instant(
            due, on: progress.state.hasEnded ? .continuous : progress.dueClock(rules.clock), now)
        var kicks = kicks
        kicks?.stalledSince = Self.instant(stalledSince, on: rules.clock, now)
        return (progress, kicks)
    }
}
