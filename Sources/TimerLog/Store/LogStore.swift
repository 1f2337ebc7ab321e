/// The log on stable storage. Called by one thread at a time, except for `makeReader` and, in a shared log,
/// `delete` and `replace`, which run beside appends.
///
/// Callers do not know which store is below: SQLite, PostgreSQL, or memory in tests and with `--store memory`.
public protocol LogStore: AnyObject, Sendable {
    /// Whether other processes may write the log as well. Then `settle` reports what became of unknown appends,
    /// accepted records wait while the storage fails, and another thread deletes and replaces rows beside appends.
    var isShared: Bool { get }
    /// The secret that keys the hashes of timers; nil where it is known only once the log is opened.
    var secret: [UInt8]? { get }
    /// Opens the log or, after a failed append, opens it again: every connection is closed first, so that what is
    /// found then is the truth. Readers stay and see what this open found. Throws `damaged` when the file or the
    /// chain of its newest rows is damaged (the fold verifies the whole chain), `inUse` when another process has
    /// the log, `fenced` when another session owns it. After a throw nothing is open.
    func open() throws(StoreError) -> StoreHead
    /// Writes `rows` in one commit after the record `expecting` (the head: `rows[0].previous`). Returns `absent`
    /// with `damaged` for rows that do not form a chain from there on, `diverged` for another `expecting` than the
    /// store's head, `fenced` for another `epoch`.
    func append(_ rows: [LogRow], expecting: Int64, epoch: Int64) -> AppendOutcome
    /// Determines the final outcome of an append whose outcome was unknown; nothing else is appended meanwhile. A
    /// storage of several writers may begin a new epoch for that, with a row of its own between the log's end and
    /// the positions of `rows`: there is room for `AppendRules.settlements` such rows.
    func settle(_ rows: [LogRow], expecting: Int64, epoch: Int64) -> Settlement
    /// Removes the rows whose `last` is at most `position`, oldest first, at most 4 MiB of them (or one larger
    /// row), and never the newest row, which marks the log's end. Returns the bytes of row data removed; 0 when
    /// there was no such row. After a throw the log must be opened again.
    func delete(upTo position: Int64) throws(StoreError) -> Int
    /// Replaces, in one commit, the rows that each of `rows` spans by that row. Each spans whole rows, all of them
    /// stored and none the newest. After a throw the log must be opened again.
    func replace(with rows: [LogRow]) throws(StoreError)
    /// Makes a reader that sees what is committed at each of its calls. May be called on any thread.
    func makeReader() throws(StoreError) -> any LogReader
    /// Returns the bytes on the device, everything included.
    func bytesOnDisk() -> Int
    /// Closes the log; `open` may follow.
    func close()
}

extension LogStore {
    /// False: one process alone writes the log.
    public var isShared: Bool { false }

    /// Nil: the log's secret is known once it is opened.
    public var secret: [UInt8]? { nil }

    /// Opens the store again, and compares the head that it finds with `rows`.
    public func settle(_ rows: [LogRow], expecting: Int64, epoch: Int64) -> Settlement {
        do throws(StoreError) {
            let head = try open()
            guard head.epoch == epoch else { return .fenced }
            // The rows of one append are stored together or not at all.
            if head.last == rows.last?.last { return .landed(head) }
            if head.last == expecting { return .absent(head) }
            return .diverged(StoreError(.io, "the log ends at position \(head.last), not at \(expecting)"))
        } catch {
            return error.kind == .fenced ? .fenced : .unknown(error)
        }
    }
}
