/// The fate of the records that an answer rests on.
public enum Fate: Sendable, Equatable {
    /// The records are on disk, or may be shown before they are: the answer may leave.
    case durable
    /// The fate is not known yet.
    case pending
    /// The records are lost: nothing of the change remains.
    case lost
    /// The fate will never be known here: the log is not this process's any more.
    case unknown
}
