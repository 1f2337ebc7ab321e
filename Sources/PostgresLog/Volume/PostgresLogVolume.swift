public import TimerLog

/// The logs of a cluster's partitions in PostgreSQL, as one process sees them. It writes those that its session owns.
public final class PostgresLogVolume: LogVolume {
    /// Most bytes that one statement carries, but for a single partition's rows.
    public static let bytesAStatement = 4 << 20
    /// Most bytes of one partition's rows in one append.
    public static let bytesAnAppend = 16 << 20

    /// How the cluster is divided.
    public let layout: PartitionLayout
    /// The cluster's secret.
    public let secret: [UInt8]?
    /// Other processes write to the same tables.
    public var isShared: Bool { true }
    private let storage: PostgresStorage
    private let stores: [PostgresLogStore]

    /// Connects.
    ///
    /// - Parameters:
    ///   - session: the number of this process, the same that takes partitions.
    ///   - warn: is told, once each, what an operator should mend.
    /// - Throws: `unusable` where the tables are missing or of another version, or a pooler hands transactions around;
    ///   `unavailable` where the server can't be reached.
    public convenience init(
        _ address: PostgresAddress, session: Int64, warn: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(StoreError) {
        try self.init(address, session: session, PostgresTimeouts(), warn: warn)
    }

    init(
        _ address: PostgresAddress, session: Int64, _ timeouts: PostgresTimeouts,
        warn: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(StoreError) {
        let storage = try PostgresStorage(address, session: session, timeouts, warn: warn)
        self.storage = storage
        layout = storage.meta.layout
        secret = storage.meta.secret
        stores = (0..<storage.meta.layout.count).map { PostgresLogStore($0, in: storage) }
    }

    /// The log of a partition.
    public func store(_ partition: Int) -> any LogStore { stores[partition] }

    /// Writes the rows of all partitions in one statement, or some where they are many.
    public func append(_ appends: [PartitionAppend]) -> [AppendOutcome] {
        storage.appender.append(appends, to: appends.map { stores[$0.partition] })
    }

    /// Begins a new epoch for the partitions, in one statement, and reads what their logs hold then.
    public func settle(_ appends: [PartitionAppend]) -> [Settlement] {
        storage.appender.settle(appends, of: appends.map { stores[$0.partition] })
    }

    /// As the protocol says, in one statement.
    public func portions(
        from starts: [(partition: Int, position: Int64)], bytes: Int
    ) throws(StoreError) -> [LogPortion]? {
        var places: [(partition: Int, position: Int64, oldest: Int64)] = []
        for (partition, position) in starts {
            guard let oldest = stores[partition].oldest else { throw PostgresLogStore.notOpen }
            places.append((partition, position, oldest))
        }
        return try PortionReader(storage: storage).read(places, bytes: bytes)
    }

    /// A reader of a partition's log, whoever owns it.
    public func makeReader(_ partition: Int) -> any LogReader { PostgresLogReader(partition, in: storage) { -1 } }

    /// Appends under another session from now on: the last one was ended, and its partitions dropped.
    public func begin(session: Int64) { storage.begin(session: session) }

    /// Bytes of the tables of all partitions on the server's disk, as they were some seconds ago.
    public func bytesOnDisk() -> Int { storage.upkeep.bytesOnDisk() }

    /// Closes every log and every connection.
    public func close() {
        for store in stores { store.close() }
        storage.close()
    }
}
