import TimerCore

/// `timerd fire`.
enum Fire: Verb {
    static let command = TimerCommand.fire
    static let abstract = "Fire a running timer now, beside its schedule."
}
