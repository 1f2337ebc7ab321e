/// What became of an append.
public enum AppendOutcome: Sendable, Equatable {
    /// Every row is on disk.
    case durable
    /// Certainly no row is on disk: the store refused before it wrote a commit.
    case absent(StoreError)
    /// The rows may or may not be on disk: it is not known before the store is opened anew.
    case unknown(StoreError)
    /// Another writer has taken the log over; nothing was written.
    case fenced
}
