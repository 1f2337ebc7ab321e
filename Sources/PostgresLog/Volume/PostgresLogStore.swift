internal import Platform
public import TimerLog

/// The log of one partition in PostgreSQL. Rows are appended through its volume; `delete` and `replace` run beside that, on a
/// connection of their own.
public final class PostgresLogStore: LogStore {
    /// What the owner knows of its log.
    struct State {
        /// Where the log ends; nil while the log is not open.
        var end: LogEnd?
        /// What became of the newest append is not known: nothing is appended before that is settled.
        var isUnsettled = false
        /// Key from which on the rows that are left begin.
        var oldest: Int64 = -1
        /// Keys before that which stay taken, of rows without data.
        var heldKeys: [HeldKey] = []
    }

    /// Its number.
    let partition: Int
    let state = Guarded(State())
    private let storage: PostgresStorage

    init(_ partition: Int, in storage: PostgresStorage) {
        self.partition = partition
        self.storage = storage
    }

    /// Finds out whose the log is and where it ends. After an append whose outcome is not known it begins a new epoch first, so
    /// that what it finds is final. Throws `fenced` where the partition is another session's, `unavailable` where PostgreSQL
    /// can't be reached.
    public func open() throws(StoreError) -> StoreHead {
        if state.withLock({ $0.isUnsettled }) {
            return try storage.appender.reopen(self)
        }
        let end = try storage.readEnd(of: partition)
        state.withLock { state in
            state.end = end
            state.oldest = -1
            state.heldKeys = []
        }
        return head(end)
    }

    /// Writes `rows` in one statement.
    public func append(_ rows: [LogRow], expecting: Int64, epoch: Int64) -> AppendOutcome {
        let append = PartitionAppend(partition: partition, rows: rows, expecting: expecting, epoch: epoch)
        return storage.appender.append([append], to: [self])[0]
    }

    /// As the protocol says; at most 512 rows a call. Of a row that begins an epoch the key stays for ten minutes: an append that
    /// stalled may still come for it.
    public func delete(upTo position: Int64) throws(StoreError) -> Int {
        try storage.trimmer.delete(upTo: position, in: self)
    }

    /// As the protocol says.
    public func replace(with rows: [LogRow]) throws(StoreError) {
        try storage.trimmer.replace(with: rows, in: self)
    }

    /// Makes a reader. Its reads throw `io` while the log is not open.
    public func makeReader() throws(StoreError) -> any LogReader {
        PostgresLogReader(partition, in: storage) { [weak self] in self?.oldest }
    }

    /// Key from which on the rows that are left begin; nil while the log is not open.
    var oldest: Int64? { state.withLock { $0.end == nil ? nil : $0.oldest } }

    /// Bytes of the tables of all partitions on the server's disk, as they were some seconds ago.
    public func bytesOnDisk() -> Int { storage.upkeep.bytesOnDisk() }

    /// Closes the log; connections stay with the volume.
    public func close() {
        state.withLock { state in state.end = nil }
    }

    /// Where the log stands, for its callers.
    func head(_ end: LogEnd) -> StoreHead {
        StoreHead(epoch: end.epoch, last: LogEnd.shown(end.last, in: partition), secret: storage.meta.secret)
    }

    /// Another session owns the partition.
    func fence() {
        state.withLock { state in
            state.end = nil
            state.isUnsettled = false
        }
    }

    static var notOpen: StoreError { StoreError(.io, "the log is not open") }
}
