public import TimerLog

/// A row, or the part of one between records of other partitions: what is shown of it before another row's turn comes.
public struct RowSlice: Sendable, Equatable {
    /// The whole row.
    public let row: LogRow
    /// Position of the first record of the part.
    public let first: Int64
    /// Position of the last record of the part.
    public let last: Int64
    /// Position behind which nothing is missing before the part. It is above the place of a reader that comes too late:
    /// the rows between were deleted.
    public let previous: Int64

    /// All of `row`.
    public init(_ row: LogRow) { self.init(row, first: row.first, last: row.last, previous: row.previous) }

    /// The records of `row` from `first` to `last`.
    init(_ row: LogRow, first: Int64, last: Int64, previous: Int64) {
        self.row = row
        self.first = first
        self.last = last
        self.previous = previous
    }

    /// Whether it is all of its row.
    public var isWhole: Bool { first == row.first && last == row.last }

    /// Bytes of the row's data, in proportion to its records; at least 1.
    public var byteCount: Int {
        if isWhole { return row.data.count }
        let records = places(through: last) - places(through: first - 1)
        return max(1, Int(Double(row.data.count) * Double(records) / Double(row.span)))
    }

    /// How many of the row's places for records lie up to `position`, which is at most its last.
    private func places(through position: Int64) -> Int64 {
        position < row.first ? 0 : (position - row.first) / row.stride + 1
    }
}
