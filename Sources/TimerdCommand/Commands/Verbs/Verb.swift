import TimerCore

/// A command that takes a timer's id and nothing else.
protocol Verb {
    static var command: TimerCommand { get }
    /// The effect of the command, for the help.
    static var abstract: String { get }
}
