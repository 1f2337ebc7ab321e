import TimerLog

/// A volume in memory whose stores a test has wrapped.
final class WrappedVolume: LogVolume {
    private let inner: MemoryLogVolume
    private let stores: [any LogStore]

    /// - Parameter wrap: gets a partition's number and its store, and returns what takes the store's place.
    init(_ layout: PartitionLayout, _ wrap: (Int, any LogStore) -> any LogStore = { $1 }) {
        let inner = MemoryLogVolume(layout)
        self.inner = inner
        stores = (0..<layout.count).map { wrap($0, inner.store($0)) }
    }

    var layout: PartitionLayout { inner.layout }

    func store(_ partition: Int) -> any LogStore { stores[partition] }

    func append(_ appends: [PartitionAppend]) -> [AppendOutcome] {
        appends.map { stores[$0.partition].append($0.rows, expecting: $0.expecting, epoch: $0.epoch) }
    }

    func bytesOnDisk() -> Int { inner.bytesOnDisk() }

    func close() { for store in stores { store.close() } }
}
