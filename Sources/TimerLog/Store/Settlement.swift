/// What became, finally, of an append whose outcome was unknown.
public enum Settlement: Sendable, Equatable {
    /// Its rows are on disk; the log goes on behind the head.
    case landed(StoreHead)
    /// Its rows are not on disk and never will be; the log goes on behind the head, also with the same rows.
    case absent(StoreHead)
    /// The log ends elsewhere: it is to be folded again.
    case diverged(StoreError)
    /// It is still not known.
    case unknown(StoreError)
    /// Another writer owns the log.
    case fenced

    /// Whether the rows are on disk.
    public var hasLanded: Bool { if case .landed = self { true } else { false } }
}
