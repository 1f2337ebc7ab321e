import TimerCore

/// `timerd activate`.
enum Activate: Verb {
    static let command = TimerCommand.activate
    static let abstract = "Set an idle timer going, or restart one that ended."
}
