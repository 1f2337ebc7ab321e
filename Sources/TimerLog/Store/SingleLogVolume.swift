/// A volume of one partition: the log that a single server writes.
public final class SingleLogVolume: LogVolume {
    private let only: any LogStore

    /// The volume whose one log is `store`.
    public init(_ store: any LogStore) { only = store }

    /// One partition, with a stride of 1.
    public var layout: PartitionLayout { .single }

    /// The one log.
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
