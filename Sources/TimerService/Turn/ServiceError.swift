public import TimerCore

/// The reason why the service could not take a command to the timers.
public enum ServiceError: Error, Sendable, Equatable {
    /// The state machine refused the command.
    case refused(TimerRefusal)
    /// Storage takes no writes now; nothing was changed.
    case storageUnavailable
    /// More work waits for the disk than may wait; nothing was changed.
    case overloaded
    /// The server is drained; nothing was changed.
    case drained
    /// The service is stopping; nothing was changed.
    case shuttingDown
}
