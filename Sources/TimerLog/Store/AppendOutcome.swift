/// The outcome of an append.
public enum AppendOutcome: Sendable, Equatable {
    /// Every row is on disk.
    case durable
    /// Certainly no row is on disk: the store refused before it wrote a commit.
    case absent(StoreError)
    /// The rows may or may not be on disk, which is known only once the append is settled or the store is opened
    /// again.
    case unknown(StoreError)
    /// Nothing was written, as the log does not end where the writer expects: the log must be folded again.
    case diverged(StoreError)
    /// Nothing was written, as another writer owns the log: this writer never writes it again.
    case fenced
}

extension AppendOutcome {
    /// Whether nothing was written because the log ends elsewhere.
    public var isDiverged: Bool { if case .diverged = self { true } else { false } }
}
