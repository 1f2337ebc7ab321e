/// The logs of all partitions on one storage, which takes their batches together.
public protocol LogVolume: AnyObject, Sendable {
    /// Appends the rows of several partitions, each partition at most once, in as few commits as the storage can. Returns
    /// what became of each, in the same order.
    func append(_ appends: [PartitionAppend]) -> [AppendOutcome]
    /// Bytes on the device, everything included.
    func bytesOnDisk() -> Int
    /// Closes every store.
    func close()
}
