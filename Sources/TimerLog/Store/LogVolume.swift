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
