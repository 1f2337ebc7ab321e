/// Words that other programs, and people, use for a command of this program.
public enum MistakenWord {
    private static let meant: [String: TimerCommand] = [
        "begin": .activate, "launch": .activate, "restart": .activate, "start": .activate,
        "freeze": .suspend, "hold": .suspend, "pause": .suspend,
        "continue": .resume, "unpause": .resume, "unsuspend": .resume,
        "abort": .cancel, "end": .cancel, "kill": .cancel, "stop": .cancel,
        "heartbeat": .kick, "ping": .kick, "touch": .kick,
        "run": .fire, "trigger": .fire,
        "delay": .reschedule, "move": .reschedule, "postpone": .reschedule, "reset": .reschedule, "snooze": .reschedule,
    ]

    /// Every word with the command that it means, in the order of the words.
    public static var all: [(word: String, command: TimerCommand)] {
        meant.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Returns the command that `word` means, in whatever case; nil if `word` is no usual mistake.
    public static func command(meantBy word: String) -> TimerCommand? { meant[word.lowercased()] }
}
