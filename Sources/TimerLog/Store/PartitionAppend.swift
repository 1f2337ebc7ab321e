/// Rows of one partition to append: see `LogStore.append`.
public struct PartitionAppend: Sendable {
    /// Number of the partition.
    public var partition: Int
    /// The rows.
    public var rows: [LogRow]
    /// Position of the record that they follow.
    public var expecting: Int64
    /// The epoch that the writer holds.
    public var epoch: Int64

    /// Makes an append; see the members.
    public init(partition: Int, rows: [LogRow], expecting: Int64, epoch: Int64) {
        self.partition = partition
        self.rows = rows
        self.expecting = expecting
        self.epoch = epoch
    }
}
