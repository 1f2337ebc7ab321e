import TimerLog

/// The shared logs as one process sees them: every append and settlement is an event of the history.
final class ProcessVolume: LogVolume, @unchecked Sendable {  // unchecked: a simulation has one thread
    private let shared: MemoryLogVolume
    private var view: MemoryLogVolume
    private(set) var session: Int64 = 0
    /// What becomes of an append, and of a settlement. Set before the process does anything.
    var onAppend: ([PartitionAppend], _ session: Int64) -> [AppendOutcome] = { _, _ in [] }
    var onSettle: ([PartitionAppend], _ session: Int64) -> [Settlement] = { _, _ in [] }

    init(_ shared: MemoryLogVolume) {
        self.shared = shared
        view = shared
    }

    var layout: PartitionLayout { shared.layout }
    var isShared: Bool { true }
    var secret: [UInt8]? { SimulatedStore.secret }

    /// What is opened from now on is opened for `session`.
    func begin(session: Int64) {
        if session == self.session { return }
        self.session = session
        view = shared.seen(by: session)
    }

    func store(_ partition: Int) -> any LogStore { ProcessStore(view.store(partition)) }

    func append(_ appends: [PartitionAppend]) -> [AppendOutcome] { onAppend(appends, session) }

    func settle(_ appends: [PartitionAppend]) -> [Settlement] { onSettle(appends, session) }

    func bytesOnDisk() -> Int { 0 }

    func close() {}
}

/// The log of a partition as a session has opened it. The order of lists is keyed by a secret that is the same in every run.
private final class ProcessStore: LogStore, @unchecked Sendable {  // unchecked: a simulation has one thread
    private let inner: any LogStore

    init(_ inner: any LogStore) { self.inner = inner }

    func open() throws(StoreError) -> StoreHead {
        var head = try inner.open()
        head.secret = SimulatedStore.secret
        return head
    }

    func append(_ rows: [LogRow], expecting: Int64, epoch: Int64) -> AppendOutcome {
        .unknown(StoreError(.io, "the simulated volume takes the rows of all partitions"))
    }

    func delete(upTo position: Int64) throws(StoreError) -> Int { try inner.delete(upTo: position) }
    func replace(with rows: [LogRow]) throws(StoreError) { try inner.replace(with: rows) }
    func makeReader() throws(StoreError) -> any LogReader { try inner.makeReader() }
    func bytesOnDisk() -> Int { inner.bytesOnDisk() }
    func close() { inner.close() }
}
