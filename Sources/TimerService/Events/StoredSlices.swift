/// What one read of the store found.
public struct StoredSlices: Sendable, Equatable {
    /// The rows, or parts of them, in the order of ids.
    public var slices: [RowSlice]
    /// Every event up to here that is kept and comes behind the reader's place is in `slices`.
    public var through: Int64
    /// Whether none between them is gone; for a timer's own events.
    public var isWhole = true
}
