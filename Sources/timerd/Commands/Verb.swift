import TimerCore

/// A command that takes a timer's id and nothing else.
protocol Verb {
    /// The command.
    static var command: TimerCommand { get }
    /// What it does, for the help.
    static var abstract: String { get }
}

enum Activate: Verb {
    static let command = TimerCommand.activate
    static let abstract = "Set an idle timer going, or restart one that ended."
}

enum Suspend: Verb {
    static let command = TimerCommand.suspend
    static let abstract = "Hold a running timer."
}

enum Resume: Verb {
    static let command = TimerCommand.resume
    static let abstract = "Let a suspended timer go on."
}

enum Cancel: Verb {
    static let command = TimerCommand.cancel
    static let abstract = "End a timer; it can still be read."
}

enum Kick: Verb {
    static let command = TimerCommand.kick
    static let abstract = "Tell a watchdog that all is well."
}

enum Fire: Verb {
    static let command = TimerCommand.fire
    static let abstract = "Fire a running timer now, beside its schedule."
}
