internal import Platform

/// A volume in memory: for tests, and for a server whose timers may be lost when it ends.
public final class MemoryLogVolume: LogVolume {
    /// How it is divided.
    public let layout: PartitionLayout
    private let logs: [MemoryLog]
    private let stores: [MemoryLogStore]

    /// The secret of all partitions.
    public var secret: [UInt8]? { logs.first?.state.withLock { $0.head.secret } }

    /// An empty volume; its partitions have one secret.
    public convenience init(_ layout: PartitionLayout) {
        let secret = SQLiteSchema.newSecret()
        self.init(layout, (0..<layout.count).map { _ in MemoryLog(secret: secret) }, session: 0)
    }

    private init(_ layout: PartitionLayout, _ logs: [MemoryLog], session: Int64) {
        self.layout = layout
        self.logs = logs
        stores = logs.map { MemoryLogStore($0, session: session) }
    }

    /// The same logs as the node sees them that has this session: it may append to the partitions that a
    /// `MemoryDirectory` of this volume has given it.
    public func seen(by session: Int64) -> MemoryLogVolume { MemoryLogVolume(layout, logs, session: session) }

    /// The log of a partition.
    public func store(_ partition: Int) -> any LogStore { stores[partition] }

    /// Keeps the rows.
    public func append(_ appends: [PartitionAppend]) -> [AppendOutcome] {
        appends.map { stores[$0.partition].append($0.rows, expecting: $0.expecting, epoch: $0.epoch) }
    }

    /// Bytes of row data in all partitions.
    public func bytesOnDisk() -> Int { stores.reduce(0) { $0 + $1.bytesOnDisk() } }

    /// Loses the newest row of a partition, as a fail-over to a standby that was behind would.
    package func loseNewestRow(of partition: Int) {
        logs[partition].state.withLock { state in
            guard state.rows.popLast() != nil else { return }
            state.head.last = state.rows.last?.last ?? 0
        }
    }

    /// Closes every log; `open` of one finds everything again.
    public func close() { for store in stores { store.close() } }

    /// Who may append to which partition.
    package var owners: [PartitionOwner] {
        logs.enumerated().map { number, log in
            log.state.withLock { PartitionOwner(partition: number, epoch: $0.head.epoch, session: $0.session) }
        }
    }

    /// Lets a session append to a partition, and nobody else. The log goes on behind `position`.
    package func beginEpoch(of partition: Int, session: Int64, behind position: Int64) -> Barrier {
        logs[partition].state.withLock {
            $0.beginEpoch(session, behind: position, in: PartitionPlace(partition, of: layout))
        }
    }
}
