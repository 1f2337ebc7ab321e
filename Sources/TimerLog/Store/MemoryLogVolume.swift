/// A volume in memory: for tests, and for a server whose timers may be lost when it ends.
public final class MemoryLogVolume: LogVolume {
    /// How it is divided.
    public let layout: PartitionLayout
    private let stores: [MemoryLogStore]

    /// The secret of all partitions.
    public let secret: [UInt8]?

    /// An empty volume; its partitions have one secret.
    public init(_ layout: PartitionLayout) {
        self.layout = layout
        let secret = SQLiteSchema.newSecret()
        self.secret = secret
        stores = (0..<layout.count).map { _ in MemoryLogStore(secret: secret) }
    }

    /// The log of a partition.
    public func store(_ partition: Int) -> any LogStore { stores[partition] }

    /// Keeps the rows.
    public func append(_ appends: [PartitionAppend]) -> [AppendOutcome] {
        appends.map { stores[$0.partition].append($0.rows, expecting: $0.expecting, epoch: $0.epoch) }
    }

    /// Bytes of row data in all partitions.
    public func bytesOnDisk() -> Int { stores.reduce(0) { $0 + $1.bytesOnDisk() } }

    /// Closes every log; `open` of one finds everything again.
    public func close() { for store in stores { store.close() } }
}
