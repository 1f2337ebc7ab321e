/// What became of an append.
public enum AppendOutcome: Sendable, Equatable {
    /// Every row is on disk.
    case durable
    /// Certainly no row is on disk: the store refused before it wrote a commit.
    case absent(StoreError)
    /// The rows may or may not be on disk: it is not known before the store is opened anew.
    case unknown(StoreError)
    /// Nothing was written, as the log does not end where the writer thinks: it is to be folded anew.
    case diverged(StoreError)
    /// Nothing was written, as another writer owns the log: this one never writes it again.
    case fenced
}

extension AppendOutcome {
    /// Whether nothing was written as the log ends elsewhere.
    public var isDiverged: Bool { if case .diverged = self { true } else { false } }
}
