import TimerCore

/// `timerd cancel`.
enum Cancel: Verb {
    static let command = TimerCommand.cancel
    static let abstract = "End a timer; it can still be read."
}
