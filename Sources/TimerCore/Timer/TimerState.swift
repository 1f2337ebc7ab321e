/// The states a timer can be in.
public enum TimerState: UInt8, Sendable, CaseIterable, BitwiseCopyable {
    /// Made, never activated.
    case idle = 0
    /// Counting; a fire is planned.
    case running = 1
    /// Not counting until it is resumed.
    case suspended = 2
    /// Ended by a client.
    case cancelled = 3
    /// Ended by itself: no fire is left.
    case completed = 4

    /// The name on the wire.
    public var name: StaticString {
        switch self {
        case .idle: "idle"
        case .running: "running"
        case .suspended: "suspended"
        case .cancelled: "cancelled"
        case .completed: "completed"
        }
    }

    /// Whether the timer has ended: it fires no more unless it is restarted, and is forgotten after its `retain`.
    public var hasEnded: Bool { self == .cancelled || self == .completed }
}
