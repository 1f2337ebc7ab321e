public import TimerCore

/// A timer as it was at one instant, copied out from under the lock to be shown.
public struct TimerView: Sendable {
    /// What its life changes.
    public var progress = TimerProgress()
    /// The rest of a watchdog's progress; nil for other kinds.
    public var kicks: KickProgress?
    /// What its client set, encoded; see `Definition`.
    public var definition: [UInt8] = []
    /// The instant it was copied at.
    public var now = Now(elapsed: 0, wallOffset: 0)
    /// Position of the newest record it rests on: showing it waits until that is durable.
    public var position: Int64 = 0
    /// Position of the newest event it reflects.
    public var eventID: Int64 = 0

    /// An empty view, to be filled again and again.
    public init() {}
}

/// Why the service could not take a command to the timers.
public enum ServiceError: Error, Sendable, Equatable {
    /// The state machine said no.
    case refused(TimerRefusal)
    /// Storage takes no writes now; nothing was changed.
    case storageUnavailable
    /// More work waits for the disk than may; nothing was changed.
    case overloaded
    /// The service is stopping; nothing was changed.
    case shuttingDown
}

/// What became of the records an answer rests on.
public enum Fate: Sendable, Equatable {
    /// They are on disk: the answer may leave.
    case durable
    /// Not yet known.
    case pending
    /// They are gone: nothing of the change stands.
    case lost
}
