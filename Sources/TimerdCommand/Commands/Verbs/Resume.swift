import TimerCore

/// `timerd resume`.
enum Resume: Verb {
    static let command = TimerCommand.resume
    static let abstract = "Let a suspended timer go on."
}
