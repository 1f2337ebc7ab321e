import TimerCore

/// A command that takes a timer's id and nothing else.
protocol Verb {
    /// The command.
    static var command: TimerCommand { get }
    /// What it does, for the help.
    static var abstract: String { get }
}
