import TimerLog

/// The simulated logs of all partitions.
final class SimulatedVolume: LogVolume {
    let layout: PartitionLayout
    private let stores: [SimulatedStore]

    init(_ layout: PartitionLayout, _ store: (Int) -> SimulatedStore) {
        self.layout = layout
        stores = (0..<layout.count).map(store)
    }

    func simulated(_ partition: Int) -> SimulatedStore { stores[partition] }

    func store(_ partition: Int) -> any LogStore { stores[partition] }

    func append(_ appends: [PartitionAppend]) -> [AppendOutcome] {
        appends.map { stores[$0.partition].append($0.rows, expecting: $0.expecting, epoch: $0.epoch) }
    }

    func bytesOnDisk() -> Int { stores.reduce(0) { $0 + $1.bytesOnDisk() } }

    func close() { for store in stores { store.close() } }
}
