/// The logs of all partitions on one storage, which takes their batches together.
public protocol LogVolume: AnyObject, Sendable {
    /// How it is divided.
    var layout: PartitionLayout { get }
    /// Whether other processes may write to the storage as well. Then `settle` tells what became of unknown appends, what was
    /// taken waits while the storage fails, and rows are deleted and replaced beside appends, by another thread.
    var isShared: Bool { get }
    /// The secret that keys the hashes of timers, where it is known before a log is opened.
    var secret: [UInt8]? { get }
    /// The log of a partition.
    func store(_ partition: Int) -> any LogStore
    /// Appends the rows of several partitions, each partition at most once, in as few commits as the storage can. Returns
    /// what became of each, in the same order.
    func append(_ appends: [PartitionAppend]) -> [AppendOutcome]
    /// Finds out, finally, what became of appends whose outcome was unknown, and in the same order. Nothing else is appended
    /// to these partitions meanwhile. A storage of several writers may begin a new epoch for it, with a row of its own between
    /// the log's end and the positions of the rows: there is room for `PartitionLayout.settlements` of them.
    func settle(_ appends: [PartitionAppend]) -> [Settlement]
    /// The rows of several logs from the one on that holds a position, or comes behind it: of each about so many bytes, but one
    /// row at least. Nil where each log is best read by itself.
    func portions(from starts: [(partition: Int, position: Int64)], bytes: Int) throws(StoreError) -> [LogPortion]?
    /// Bytes on the device, everything included.
    func bytesOnDisk() -> Int
    /// Closes every store.
    func close()
}

extension LogVolume {
    /// One process alone writes.
    public var isShared: Bool { false }

    /// To read one log costs no more than its rows.
    public func portions(
        from starts: [(partition: Int, position: Int64)], bytes: Int
    ) throws(StoreError) -> [LogPortion]? { nil }

    /// Each log tells it once it is opened.
    public var secret: [UInt8]? { nil }

    /// Opens the stores anew: what is found then is the truth.
    public func settle(_ appends: [PartitionAppend]) -> [Settlement] {
        appends.map { append in
            do throws(StoreError) {
                let head = try store(append.partition).open()
                guard head.epoch == append.epoch else { return .fenced }
                // The rows of one append are there together or not at all.
                if head.last == append.rows.last?.last { return .landed(head) }
                if head.last == append.expecting { return .absent(head) }
                return .diverged(StoreError(.io, "the log ends at position \(head.last), not at \(append.expecting)"))
            } catch {
                return error.kind == .fenced ? .fenced : .unknown(error)
            }
        }
    }
}
