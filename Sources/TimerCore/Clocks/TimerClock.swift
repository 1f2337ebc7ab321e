/// The clock a timer counts by.
public enum TimerClock: UInt8, Sendable, CaseIterable {
    /// Elapsed time; steps of the calendar do not move it, sleep and downtime count.
    case continuous = 0
    /// The calendar, with its steps.
    case wall = 1
    /// Elapsed time while the server is up.
    case suspending = 2

    /// The name on the wire.
    public var name: StaticString {
        switch self {
        case .continuous: "continuous"
        case .wall: "wall"
        case .suspending: "suspending"
        }
    }
}
