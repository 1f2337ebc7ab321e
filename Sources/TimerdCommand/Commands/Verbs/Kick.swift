import TimerCore

/// `timerd kick`.
enum Kick: Verb {
    static let command = TimerCommand.kick
    static let abstract = "Tell a watchdog that all is well."
}
