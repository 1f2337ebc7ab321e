/// The instant a step is taken at, on every clock that timers count by.
///
/// Time is an argument everywhere in this module: nothing here reads a clock. The elapsed clock never steps; the
/// others differ from it by whole milliseconds, so a whole millisecond on one is a whole millisecond on each, and a
/// due instant looks the same on all.
public struct Now: Sendable, Equatable {
    /// Nanoseconds on the elapsed clock.
    public var elapsed: Int64
    /// Milliseconds to add to the elapsed clock for the wall clock (since 1970, UTC); changes when the calendar is set.
    public var wallOffset: Int64
    /// Milliseconds to subtract from the elapsed clock for the suspending clock: for how long the server was down.
    /// Only grows.
    public var downtime: Int64

    /// Makes an instant; see the members.
    public init(elapsed: Int64, wallOffset: Int64, downtime: Int64 = 0) {
        self.elapsed = elapsed
        self.wallOffset = wallOffset
        self.downtime = downtime
    }

    /// Whole milliseconds since 1970 that have begun.
    public var wall: Int64 { milliseconds(on: .wall) }

    /// Returns the milliseconds to add to the elapsed clock for `clock`.
    func offset(of clock: TimerClock) -> Int64 {
        switch clock {
        case .continuous: 0
        case .wall, .working: wallOffset
        case .suspending: -downtime
        }
    }

    /// Returns this instant in nanoseconds on `clock`.
    public func nanoseconds(on clock: TimerClock) -> Int64 {
        elapsed + offset(of: clock) * nanosecondsPerMillisecond
    }

    /// Returns the whole milliseconds on `clock` that have begun: every instant up to there is due.
    public func milliseconds(on clock: TimerClock) -> Int64 {
        floorDivide(nanoseconds(on: clock), nanosecondsPerMillisecond)
    }

    /// Returns the first whole millisecond on `clock` that has not begun before this instant: rounding up keeps
    /// fires from being early.
    public func ceiling(on clock: TimerClock) -> Int64 {
        -floorDivide(-nanoseconds(on: clock), nanosecondsPerMillisecond)
    }

    /// Returns the milliseconds left until `due` on `clock`; 0 once that has passed. As instants are whole milliseconds, and a
    /// command counts as given at the next one, now is rounded up.
    public func millisecondsLeft(until due: Int64, on clock: TimerClock) -> Int64 { max(0, due - ceiling(on: clock)) }

    /// Returns the wall instant, in milliseconds, of `due` on `clock`.
    public func wall(of due: Int64, on clock: TimerClock) -> Int64 { due - offset(of: clock) + wallOffset }

    /// Returns the instant on `clock`, in milliseconds, that the wall instant `wall` falls on.
    func due(ofWall wall: Int64, on clock: TimerClock) -> Int64 { wall - wallOffset + offset(of: clock) }
}

/// The clock a timer counts by.
public enum TimerClock: UInt8, Sendable, CaseIterable {
    /// Elapsed time; steps of the calendar do not move it, sleep and downtime count.
    case continuous = 0
    /// The calendar, with its steps.
    case wall = 1
    /// Elapsed time while the server is up.
    case suspending = 2
    /// The open time of the timer's calendar. Instants on it are those of the wall clock: a duration becomes one by
    /// ``Grid/instant(after:from:)``.
    case working = 3

    /// The name on the wire.
    public var name: StaticString {
        switch self {
        case .continuous: "continuous"
        case .wall: "wall"
        case .suspending: "suspending"
        case .working: "working"
        }
    }
}

/// An instant on each clock, in milliseconds; initially `Int64.min`, before every other.
struct ClockReadings: Equatable {
    private var continuous = Int64.min
    private var wall = Int64.min
    private var suspending = Int64.min

    subscript(clock: TimerClock) -> Int64 {
        get {
            switch clock {
            case .continuous: continuous
            case .wall, .working: wall
            case .suspending: suspending
            }
        }
        set {
            switch clock {
            case .continuous: continuous = newValue
            case .wall, .working: wall = newValue
            case .suspending: suspending = newValue
            }
        }
    }
}

/// Instants of timers are in milliseconds, those of the kernel's clocks in nanoseconds.
let nanosecondsPerMillisecond: Int64 = 1_000_000

/// The end of the year 9999, in wall milliseconds: no later instant can be shown.
let lastInstant: Int64 = 253_402_300_799_999

/// Divides, rounding toward negative infinity. `divisor` is positive.
func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
    let quotient = value / divisor
    return value % divisor < 0 ? quotient - 1 : quotient
}
