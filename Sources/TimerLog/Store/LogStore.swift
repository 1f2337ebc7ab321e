/// The log on stable storage. One thread at a time calls it, but for `makeReader` and, of a shared log, `delete` and `replace`,
/// which run beside appends.
///
/// Its callers do not know what is below: SQLite, PostgreSQL, or memory in tests and with `--store memory`.
public protocol LogStore: AnyObject, Sendable {
    /// Whether other processes may write the log as well. Then `settle` reports what became of unknown appends, what was taken
    /// waits while the storage fails, and rows are deleted and replaced beside appends, by another thread.
    var isShared: Bool { get }
    /// The secret that keys the hashes of timers, where it is known before the log is opened.
    var secret: [UInt8]? { get }
    /// Opens or, after a failed append, opens again: every connection is closed first, and what is found then is the
    /// truth. Readers stay and see what this open found. Throws `damaged` when the file or the chain of its newest rows
    /// is (the whole chain is verified by the fold), `inUse` when another process has it, `fenced` when another session owns
    /// it. After a throw nothing is open.
    func open() throws(StoreError) -> StoreHead
    /// Writes `rows` in one commit after the record `expecting` (the head: `rows[0].previous`). Rows that do not form a
    /// chain from there on are `absent` with `damaged`; another `expecting` than the store's is `diverged`, another `epoch`
    /// `fenced`.
    func append(_ rows: [LogRow], expecting: Int64, epoch: Int64) -> AppendOutcome
    /// Finds out, finally, what became of an append whose outcome was unknown. Nothing else is appended meanwhile. A storage of
    /// several writers may begin a new epoch for it, with a row of its own between the log's end and the positions of the rows:
    /// there is room for `AppendRules.settlements` of them.
    func settle(_ rows: [LogRow], expecting: Int64, epoch: Int64) -> Settlement
    /// Removes the rows whose `last` is at most `position`, oldest first, at most 4 MiB of them (or one larger row), and
    /// never the newest row, which says where the log stands. Returns how many bytes of row data went; 0 when there
    /// was none. After a throw, open again.
    func delete(upTo position: Int64) throws(StoreError) -> Int
    /// Replaces, in one commit, the rows that each of `rows` spans by that row. Each spans whole rows, neither the newest
    /// nor any that is not there. After a throw, open again.
    func replace(with rows: [LogRow]) throws(StoreError)
    /// Makes a reader that sees what is committed at each of its calls. Any thread may call.
    func makeReader() throws(StoreError) -> any LogReader
    /// Bytes on the device, everything included.
    func bytesOnDisk() -> Int
    /// Closes the log; `open` may follow.
    func close()
}

extension LogStore {
    /// One process alone writes.
    public var isShared: Bool { false }

    /// The log reports it once it is opened.
    public var secret: [UInt8]? { nil }

    /// Opens the store again: what is found then is the truth.
    public func settle(_ rows: [LogRow], expecting: Int64, epoch: Int64) -> Settlement {
        do throws(StoreError) {
            let head = try open()
            guard head.epoch == epoch else { return .fenced }
            // The rows of one append are there together or not at all.
            if head.last == rows.last?.last { return .landed(head) }
            if head.last == expecting { return .absent(head) }
            return .diverged(StoreError(.io, "the log ends at position \(head.last), not at \(expecting)"))
        } catch {
            return error.kind == .fenced ? .fenced : .unknown(error)
        }
    }
}
