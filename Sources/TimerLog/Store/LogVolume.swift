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

/// The logs of all partitions on one storage, which takes their batches together.
public protocol LogVolume: AnyObject, Sendable {
    /// How many partitions there are, numbered from 0 on.
    var partitionCount: Int { get }
    /// The distance between two positions of a partition: positions of the partition p are congruent to p modulo it.
    var stride: Int64 { get }
    /// The log of a partition.
    func store(_ partition: Int) -> any LogStore
    /// Appends the rows of several partitions, each partition at most once, in as few commits as the storage can. Returns
    /// what became of each, in the same order.
    func append(_ appends: [PartitionAppend]) -> [AppendOutcome]
    /// Bytes on the device, everything included.
    func bytesOnDisk() -> Int
    /// Closes every store.
    func close()
}

/// A volume of one partition: the log that a single server writes.
public final class SingleLogVolume: LogVolume {
    private let only: any LogStore

    /// The volume whose one log is `store`.
    public init(_ store: any LogStore) { only = store }

    /// 1.
    public var partitionCount: Int { 1 }
    /// 1: positions are consecutive.
    public var stride: Int64 { 1 }
    /// The log.
    public func store(_ partition: Int) -> any LogStore { only }
    /// Appends to the log.
    public func append(_ appends: [PartitionAppend]) -> [AppendOutcome] {
        appends.map { only.append($0.rows, expecting: $0.expecting, epoch: $0.epoch) }
    }
    /// Bytes of the log.
    public func bytesOnDisk() -> Int { only.bytesOnDisk() }
    /// Closes the log.
    public func close() { only.close() }
}
