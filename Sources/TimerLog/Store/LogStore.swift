public import Platform

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
    /// Makes a reader that reads the log whoever owns it, also while it is not open. May be called on any thread.
    func makeFollower() throws(StoreError) -> any LogReader
    /// Makes those reads under way fail that wait for another machine; the others end by themselves. May be called on any
    /// thread.
    func interruptReads()
    /// Returns the bytes on the device, everything included.
    func bytesOnDisk() -> Int
    /// Closes the log; `open` may follow.
    func close()
}

/// Reads rows beside the writer, on a connection of its own. Confined to one thread at a time.
public protocol LogReader: AnyObject {
    /// Passes the rows that hold positions from `position` on to `body`, in order (the first may start before
    /// `position`), until `body` returns false or no row is left. Rows appended or deleted meanwhile may or may not
    /// be among them: a caller that needs an unbroken run feeds a `ChainVerifier`. The storage of a row that `body`
    /// does not keep is used again for later rows.
    func read(from position: Int64, _ body: (LogRow) -> Bool) throws(StoreError)
    /// Returns the row that holds `position`, or nil.
    func row(holding position: Int64) throws(StoreError) -> LogRow?
    /// Follows positions back: passes the row that holds `position` to `body`, then the row that holds the position
    /// that `body` returned, which is before that row, and so on until `body` returns nil. A store whose single
    /// reads cost a round trip reads several rows at once where they are likely to be asked for; the rows that it
    /// holds are bounded in number and bytes.
    ///
    /// - Returns: the position that no row holds, if the walk ended there; nil if `body` ended it.
    func follow(
        from position: Int64, _ body: (LogRow) throws(StoreError) -> Int64?
    ) throws(StoreError) -> Int64?
}

/// The end of the log in an open store, with the log's secret.
public struct StoreHead: Sendable, Equatable {
    /// The epoch this writer holds.
    public var epoch: Int64
    /// Position of the last record on disk, 0 when there is none.
    public var last: Int64
    /// The secret of this log (16 bytes), drawn when the log was made: the key of the hashes that order lists.
    public var secret: [UInt8]
    /// Wall milliseconds at which the log was copied, or its end cut: another server may have gone on from there,
    /// so positions and versions begin again by the clock. Nil from the first append on.
    public var branchedAt: Int64?

    /// Makes a head; see the members.
    public init(epoch: Int64, last: Int64, secret: [UInt8], branchedAt: Int64? = nil) {
        self.branchedAt = branchedAt
        self.epoch = epoch
        self.last = last
        self.secret = secret
    }
}

/// The secret of a log: see `StoreHead.secret`.
package enum LogSecret {
    /// The bytes of a secret.
    package static let byteCount = 16

    /// Draws a secret for a new log from the kernel's generator.
    package static func fresh() -> [UInt8] {
        KernelRandom.words(byteCount / 8).flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
        }
    }
}

/// The bounds of single calls, which every store has.
package enum StoreLimits {
    /// The most bytes of row data that one `LogStore.delete` removes, but for a single larger row.
    package static let bytesADelete = 4 << 20
    /// The most rows that a reader fetches at a time.
    package static let rowsARead = 4096
}

/// The outcome of an append.
public enum AppendOutcome: Sendable, Equatable {
    /// Every row is on disk.
    case durable
    /// Certainly no row is on disk: the store refused before it wrote a commit.
    case absent(StoreError)
    /// The rows may or may not be on disk, which is known only once the append is settled or the store is opened
    /// again.
    case unknown(StoreError)
    /// Nothing was written, as the log does not end where the writer expects: the log must be folded again.
    case diverged(StoreError)
    /// Nothing was written, as another writer owns the log: this writer never writes it again.
    case fenced
}

/// The final outcome of an append whose outcome was unknown.
public enum Settlement: Sendable, Equatable {
    /// The rows are on disk; the log goes on after the head.
    case landed(StoreHead)
    /// The rows are not on disk and never will be; the log goes on after the head, where the same rows may be
    /// appended again.
    case absent(StoreHead)
    /// The log ends elsewhere and must be folded again.
    case diverged(StoreError)
    /// The outcome is still not known.
    case unknown(StoreError)
    /// Another writer owns the log.
    case fenced

    /// Whether the rows are on disk.
    public var hasLanded: Bool { if case .landed = self { true } else { false } }
}

/// The checks that every store makes before it writes.
public enum AppendRules {
    /// The number of positions that stay free before the first of each batch of a shared log, for the rows that
    /// `LogStore.settle` writes.
    public static let settlements: Int64 = 16

    /// Returns why a store at `head` must not write `rows`, or nil when it may.
    public static func refusal(_ rows: [LogRow], expecting: Int64, epoch: Int64, head: StoreHead) -> AppendOutcome? {
        guard epoch == head.epoch else { return .fenced }
        guard expecting == head.last else {
            return .diverged(StoreError(.io, "the log ends at position \(head.last), not at \(expecting)"))
        }
        var verifier = ChainVerifier(after: head.last)
        do throws(StoreError) {
            for row in rows { try verifier.check(row) }
            return nil
        } catch {
            // The next start would fail if these rows were written; refusing them costs one batch.
            return .absent(StoreError(.damaged, "rows to append do not follow the log: \(error)"))
        }
    }
}

extension LogStore {
    /// Waits until no read is under way. One that hangs is interrupted soon: a take-over or a hand-over may wait for this.
    ///
    /// - Parameters:
    ///   - reads: the state that says whether a read is under way.
    ///   - isOver: returns whether none is.
    public func awaitReads<State>(in reads: Guarded<State>, isOver: (inout State) -> Bool) {
        let patience: Int64 = 250_000_000
        while reads.wait(nanoseconds: patience, { isOver(&$0) ? () : nil }) == nil { interruptReads() }
    }

    /// False: one process alone writes the log.
    public var isShared: Bool { false }

    /// Makes a reader: the log is the process's own.
    public func makeFollower() throws(StoreError) -> any LogReader { try makeReader() }

    /// Does nothing: no read waits for another machine.
    public func interruptReads() {}

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

extension LogReader {
    /// Reads one row after the other.
    public func follow(
        from position: Int64, _ body: (LogRow) throws(StoreError) -> Int64?
    ) throws(StoreError) -> Int64? {
        var next = position
        while let row = try row(holding: next) {
            guard let further = try body(row) else { return nil }
            next = further
        }
        return next
    }
}
