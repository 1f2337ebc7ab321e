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
