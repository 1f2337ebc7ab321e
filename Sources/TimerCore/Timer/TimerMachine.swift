/// The one table of what each command does in each state. The server decides by this table; refusals, `allowed`,
/// and the tables and the diagram of the documents are made from it, and a test compares the documents with it.
public enum TimerMachine {
    /// The effect of a command in a state.
    public enum Transition: Sendable, Equatable {
        /// 409 `illegal-transition`; nothing changes.
        case illegal
        /// The timer goes to a state (perhaps the one it is in); `note` is what documents add.
        case go(TimerState, note: StaticString)
        /// A `go(.running)` if the timer is `restartable`, else illegal.
        case restart
        /// 200, and nothing changes.
        case nothing

        /// Compares by meaning; notes are documentation.
        public static func == (left: Transition, right: Transition) -> Bool {
            switch (left, right) {
            case (.illegal, .illegal), (.restart, .restart), (.nothing, .nothing): true
            case (.go(let a, _), .go(let b, _)): a == b
            default: false
            }
        }
    }

    /// Returns the effect of `command` on a timer in `state`. The caller has checked that a `kick` is for a watchdog.
    public static func transition(_ command: TimerCommand, in state: TimerState) -> Transition {
        table[Int(command.rawValue)][Int(state.rawValue)]
    }

    /// Whether `command` is legal in `state` now.
    public static func allows(
        _ command: TimerCommand, in state: TimerState, restartable: Bool, isWatchdog: Bool
    ) -> Bool {
        if command == .kick && !isWatchdog { return false }
        switch transition(command, in: state) {
        case .illegal: return false
        case .restart: return restartable
        case .go, .nothing: return true
        }
    }

    // Rows are in the order of `TimerCommand`, columns in that of `TimerState`.
    private static let table: [[Transition]] = [
        // idle, running, suspended, cancelled, completed
        [.go(.running, note: ""), .illegal, .illegal, .restart, .restart],
        [.illegal, .go(.suspended, note: ""), .illegal, .illegal, .illegal],
        [.illegal, .illegal, .go(.running, note: ""), .illegal, .illegal],
        [.illegal, .go(.cancelled, note: ""), .go(.cancelled, note: ""), .illegal, .illegal],
        [.illegal, .go(.running, note: "full period anew, health ok"), .nothing, .illegal, .illegal],
        [
            .illegal, .go(.running, note: "fires now, schedule unchanged; a one-shot completes"), .illegal, .illegal,
            .illegal,
        ],
        [
            .illegal, .go(.running, note: "next due moves there; an `every` grid goes on from it"),
            .go(.suspended, note: "remaining or due moves"), .illegal, .illegal,
        ],
    ]
}

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
