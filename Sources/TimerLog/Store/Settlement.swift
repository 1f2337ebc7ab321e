/// The final outcome of an append whose outcome was unknown.
public enum Settlement: Sendable, Equatable {
    /// The rows are on disk; the log goes on after the head.
    case landed(StoreHead)
    /// The rows are not on disk and never will be; the log goes on after the head, where the same rows may be
    /// appended again.
    case absent(StoreHead)
    /// The log ends elsewhere and must be folded again.
    case diverged(StoreError)
    /// The outcome is still not known.
    case unknown(StoreError)
    /// Another writer owns the log.
    case fenced

    /// Whether the rows are on disk.
    public var hasLanded: Bool { if case .landed = self { true } else { false } }
}
