/// The logs of all partitions on one storage, which takes their batches together.
public protocol LogVolume: AnyObject, Sendable {
    /// How it is divided.
    var layout: PartitionLayout { get }
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
