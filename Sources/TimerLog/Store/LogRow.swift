/// The bytes of rows' data, by the kind of the rows.
public struct RowBytes: Sendable, Equatable {
    /// Bytes in rows of events, in barriers, and in rows whose header is damaged.
    public private(set) var events = 0
    /// Bytes in rows of kicks.
    public private(set) var kicks = 0
    /// Bytes in condensed rows.
    public private(set) var condensed = 0

    /// Counts `rows`.
    public init(_ rows: some Sequence<LogRow> = []) {
        for row in rows { add(row) }
    }

    /// Bytes in all rows.
    public var total: Int { events + kicks + condensed }

    /// Counts another row.
    public mutating func add(_ row: LogRow) {
        switch BatchHeader.kind(of: row) {
        case .events, .barrier, nil: events += row.data.count
        case .kicks: kicks += row.data.count
        case .condensed: condensed += row.data.count
        }
    }

    /// Adds the bytes of other rows.
    public static func += (left: inout RowBytes, right: RowBytes) {
        left.events += right.events
        left.kicks += right.kicks
        left.condensed += right.condensed
    }

    /// Subtracts the bytes of removed rows.
    public static func -= (left: inout RowBytes, right: RowBytes) {
        left.events -= right.events
        left.kicks -= right.kicks
        left.condensed -= right.condensed
    }
}
