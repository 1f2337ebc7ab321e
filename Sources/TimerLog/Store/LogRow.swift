/// One row of the log: a run of records that became durable together, and its link to the row before.
public struct LogRow: Sendable, Equatable {
    /// Position of the first record in the row.
    public var first: Int64
    /// Position of the last record in the row, at least `first`.
    public var last: Int64
    /// `last` of the row before, 0 for the first row ever. Replay and fold verify this chain.
    public var previous: Int64
    /// The epoch of the writer; 0 in a log without a cluster.
    public var epoch: Int64
    /// The encoded batch: a header and records, at most 256 KiB unless one record alone is larger.
    public var data: [UInt8]

    /// Makes a row; see the members.
    public init(
        first: Int64, last: Int64, previous: Int64, epoch: Int64 = 0, data: [UInt8]
    ) {
        self.first = first
        self.last = last
        self.previous = previous
        self.epoch = epoch
        self.data = data
    }

    /// The number of positions of the row. A condensed row holds one record, whatever its span.
    public var span: Int64 { last - first + 1 }

    /// Returns the index, from 0, of the record at `position`; nil when the row does not span `position`.
    public func index(of position: Int64) -> Int? {
        (first...last).contains(position) ? Int(position - first) : nil
    }
}

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
