public import TimerLog

/// The rows that one read of the store found.
public struct StoredRows: Sendable, Equatable {
    /// The rows, in the order of the log.
    public var rows: [LogRow]
    /// Position up to which `rows` holds every kept event after the position that was asked for.
    public var through: Int64
    /// Whether none of the events in between is gone; for a timer's own events.
    public var isWhole = true
}
