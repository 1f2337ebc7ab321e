public import TimerLog

/// What one read of the store found.
public struct StoredRows: Sendable, Equatable {
    /// The rows, in the order of the log.
    public var rows: [LogRow]
    /// Every event up to here that is kept and comes after the reader's place is in `rows`.
    public var through: Int64
    /// Whether none between them is gone; for a timer's own events.
    public var isWhole = true
}
