import TimerCore

/// The machine as documents show it.
extension TimerMachine {
    /// Returns the table as Markdown, a line a command.
    static func markdown() -> String {
        var lines = ["| command | \(TimerState.allCases.map { "\($0.name)" }.joined(separator: " | ")) |"]
        lines.append("|---|" + String(repeating: "---|", count: TimerState.allCases.count))
        for command in TimerCommand.allCases {
            let cells = TimerState.allCases.map { cell(transition(command, in: $0), from: $0) }
            lines.append("| \(title(command)) | \(cells.joined(separator: " | ")) |")
        }
        return lines.joined(separator: "\n")
    }

    /// Returns the machine as a Mermaid state diagram.
    static func mermaid() -> String {
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
