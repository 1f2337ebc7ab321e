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

extension TimerMachine {
    /// Returns the table as Markdown, a line a command.
    public static func markdown() -> String {
        var lines = ["| command | \(TimerState.allCases.map { "\($0.name)" }.joined(separator: " | ")) |"]
        lines.append("|---|" + String(repeating: "---|", count: TimerState.allCases.count))
        for command in TimerCommand.allCases {
            let cells = TimerState.allCases.map { cell(transition(command, in: $0), from: $0) }
            lines.append("| \(title(command)) | \(cells.joined(separator: " | ")) |")
        }
        return lines.joined(separator: "\n")
    }

    /// Returns the machine as a Mermaid state diagram.
    public static func mermaid() -> String {
        var lines = ["stateDiagram-v2", "    [*] --> running: create"]
        lines.append("    [*] --> idle: create, start manual or subscriber")
        for state in TimerState.allCases {
            for command in TimerCommand.allCases {
                switch transition(command, in: state) {
                case .go(let next, _): lines.append("    \(state.name) --> \(next.name): \(command.name)")
                case .restart: lines.append("    \(state.name) --> running: \(command.name), if restartable")
                case .illegal, .nothing: continue
                }
            }
        }
        lines.append("    running --> completed: last fire")
        return lines.joined(separator: "\n")
    }

    /// Returns one cell of the table as the documents word it.
    static func cell(_ transition: Transition, from state: TimerState) -> String {
        switch transition {
        case .illegal: return "409"
        case .restart: return "409; running if restartable"
        case .nothing: return "200, nothing changes"
        case .go(let next, let note):
            let note = "\(note)"
            if note.isEmpty { return "\(next.name)" }
            return next == state && !note.hasPrefix("full") ? note : "\(next.name), \(note)"
        }
    }

    private static func title(_ command: TimerCommand) -> String {
        switch command {
        case .kick: "`kick` (watchdog)"
        case .reschedule: "`reschedule` `{\"after\": D}` or `{\"at\": T}`"
        default: "`\(command.name)`"
        }
    }
}
