import TimerCore

/// `timerd suspend`.
enum Suspend: Verb {
    static let command = TimerCommand.suspend
    static let abstract = "Hold a running timer."
}
