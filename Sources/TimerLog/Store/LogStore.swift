/// One row of the log: a run of records that became durable together, and its link to the row before.
public struct LogRow: Sendable, Equatable {
    /// Position of the first record in the row.
    public var first: Int64
    /// Position of the last record in the row, at least `first`.
    public var last: Int64
    /// `last` of the row before, 0 for the first row ever. Replay and fold verify this chain.
    public var previous: Int64
    /// The partition of the log; 0 until there are several.
    public var partition: Int32
    /// The epoch of the writer; 0 until there are several.
    public var epoch: Int64
    /// The encoded batch: a header and records, at most 256 KiB unless one record alone is larger.
    public var data: [UInt8]

    /// Makes a row; see the members.
    public init(first: Int64, last: Int64, previous: Int64, partition: Int32 = 0, epoch: Int64 = 0, data: [UInt8]) {
        self.first = first
        self.last = last
        self.previous = previous
        self.partition = partition
        self.epoch = epoch
        self.data = data
    }
}

/// What became of an append.
public enum AppendOutcome: Sendable, Equatable {
    /// Every row is on disk.
    case durable
    /// No row is on disk, surely: the store refused before it wrote a commit.
    case absent(StoreError)
    /// The rows may or may not be on disk: nobody knows before the store is opened anew.
    case unknown(StoreError)
    /// Another writer has taken the log over; nothing was written.
    case fenced
}

/// Why a store could not do what it was asked.
public struct StoreError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What kind of trouble, as far as a caller acts on it.
    public enum Kind: Sendable, Equatable {
        /// The device has no room.
        case full
        /// The device failed, or the file system refused.
        case io
        /// What is stored can't be right; `description` names where.
        case damaged
        /// Somebody else holds the data directory.
        case inUse
        /// The directory or file can't be used at all (permissions, not a database, a newer format).
        case unusable
    }

    /// What kind of trouble.
    public var kind: Kind
    /// One line for a log or an operator.
    public var description: String

    /// Makes an error.
    public init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}

/// Where an open store stands.
public struct StoreHead: Sendable, Equatable {
    /// The epoch this writer holds.
    public var epoch: Int64
    /// Position of the last record on disk, 0 when there is none.
    public var last: Int64
    /// The 128-bit secret of this log (16 bytes), made when the log was: keys the hashes that order lists.
    public var secret: [UInt8]
    /// Wall milliseconds at which the log was copied, or its end cut: others may have gone on from there, so positions and
    /// versions begin anew by the clock. Nil from the first append on.
    public var branchedAt: Int64?

    /// Makes a head; see the members.
    public init(epoch: Int64, last: Int64, secret: [UInt8], branchedAt: Int64? = nil) {
        self.branchedAt = branchedAt
        self.epoch = epoch
        self.last = last
        self.secret = secret
    }
}

/// Reads rows beside the writer, on a connection of its own. Confined to one thread at a time.
public protocol LogReader: AnyObject {
    /// Hands the rows that hold positions from `position` on to `body`, in order (the first may start before
    /// `position`), until `body` returns false or no row is left. Rows appended or deleted meanwhile may or may not be
    /// among them: who needs an unbroken run feeds a `ChainVerifier`. A row that `body` does not keep lends its storage
    /// to later ones.
    func read(from position: Int64, _ body: (LogRow) -> Bool) throws(StoreError)
    /// The row that holds `position`, or nil.
    func row(holding position: Int64) throws(StoreError) -> LogRow?
}

/// The log on stable storage. One thread at a time calls it, but for `makeReader`.
///
/// Nothing above knows what is below: SQLite here, memory in tests and with `--store memory`.
public protocol LogStore: AnyObject, Sendable {
    /// Opens or, after a failed append, opens anew: every connection is closed first, and what is found then is the
    /// truth. Readers stay and see what this open found. Throws `damaged` when the file or the chain of its newest rows
    /// is (the whole chain is for who folds it), `inUse` when another process has it. After a throw nothing is open.
    func open() throws(StoreError) -> StoreHead
    /// Writes `rows` in one commit after the record `expecting` (the head: `rows[0].previous`). Rows that do not form a
    /// chain from there on are `absent` with `damaged`; another `expecting` or `epoch` than the store's is `fenced`.
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
