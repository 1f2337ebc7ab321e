/// Bytes of rows' data, by what the rows are for.
public struct RowBytes: Sendable, Equatable {
    /// In rows of events.
    public private(set) var events = 0
    /// In rows of kicks.
    public private(set) var kicks = 0
    /// In condensed rows.
    public private(set) var condensed = 0

    /// Counts `rows`.
    public init(_ rows: some Sequence<LogRow> = []) {
        for row in rows { add(row) }
    }

    /// Of all rows.
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

    /// Takes off the bytes of rows that are gone.
    public static func -= (left: inout RowBytes, right: RowBytes) {
        left.events -= right.events
        left.kicks -= right.kicks
        left.condensed -= right.condensed
    }
}
