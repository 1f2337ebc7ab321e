/// The log on stable storage. One thread at a time calls it, but for `makeReader`.
///
/// Its callers do not know what is below: SQLite, or memory in tests and with `--store memory`.
public protocol LogStore: AnyObject, Sendable {
    /// Opens or, after a failed append, opens anew: every connection is closed first, and what is found then is the
    /// truth. Readers stay and see what this open found. Throws `damaged` when the file or the chain of its newest rows
    /// is (the whole chain is verified by the fold), `inUse` when another process has it. After a throw nothing is open.
    func open() throws(StoreError) -> StoreHead
    /// Writes `rows` in one commit after the record `expecting` (the head: `rows[0].previous`). Rows that do not form a
    /// chain from there on are `absent` with `damaged`; another `expecting` than the store's is `diverged`, another `epoch`
    /// `fenced`.
    func append(_ rows: [LogRow], expecting: Int64, epoch: Int64) -> AppendOutcome
    /// Removes the rows whose `last` is at most `position`, oldest first, at most 4 MiB of them (or one larger row), and
    /// never the newest row, which says where the log stands. Returns how many bytes of row data went; 0 when there
    /// was none. After a throw, open anew.
    func delete(upTo position: Int64) throws(StoreError) -> Int
    /// Replaces, in one commit, the rows that each of `rows` spans by that row. Each spans whole rows, neither the newest
    /// nor any that is not there. After a throw, open anew.
    func replace(with rows: [LogRow]) throws(StoreError)
    /// Makes a reader that sees what is committed at each of its calls. Any thread may call.
    func makeReader() throws(StoreError) -> any LogReader
    /// Bytes on the device, everything included.
    func bytesOnDisk() -> Int
    /// Closes every connection; `open` may follow.
    func close()
}
