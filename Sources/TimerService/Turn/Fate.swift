/// What became of the records an answer rests on.
public enum Fate: Sendable, Equatable {
    /// They are on disk: the answer may leave.
    case durable
    /// Not yet known.
    case pending
    /// They are gone: nothing of the change stands.
    case lost
    /// It will never be known here: the log is not this process's any more.
    case unknown
}
