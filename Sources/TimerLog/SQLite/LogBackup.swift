internal import Glibc
internal import Platform

/// Copies a log, also beside the server that writes it.
public enum LogBackup {
    /// The size and the end of a copy.
    public struct Summary: Sendable, Equatable {
        /// Rows in the copy.
        public var rows: Int
        /// Bytes of row data in the copy.
        public var bytes: Int
        /// Position of the last record in the copy, 0 when the log is empty.
        public var head: Int64
    }

    /// The most times a copy is begun: it starts over when its oldest row was deleted meanwhile. Reading is far
    /// faster than compaction, so even one restart is rare.
    static let attempts = 16

    /// Copies the log in `directory` to a new database in `target`, a directory that is empty or missing. Takes no
    /// lock; the server may run. The copy appears under its name only when it is on disk and has been read back.
    ///
    /// The copy is the log as it was at one instant. One read transaction fetches the oldest row and the head at
    /// that instant; the goal is that head. Rows never change, new ones come after the goal, and rows are deleted
    /// at the old end only. So if each row copied up to the goal names the one copied before it, no row of that
    /// instant is missing and no other row is in the copy: the copy holds exactly the rows of that instant, which
    /// can be folded, whatever is deleted from the original meanwhile. If a row does not name the one before it
    /// because rows between were deleted, newer rows than the goal may hold their timers, so the copy starts over
    /// with a new instant. Rows of kicks may be condensed meanwhile: then newer rows hold what still counts of the
    /// kicks, and the goal moves to the newest of these rows.
    ///
    /// Throws `unusable` when there is no log or `target` is not empty, `damaged` when the log is, `full` and `io`
    /// for the target's device.
    ///
    /// - Parameter progress: called after each read transaction on the original with what is copied so far.
    public static func copy(
        from directory: String, to target: String, progress: (Summary) -> Void = { _ in }
    ) throws(StoreError) -> Summary {
        let source = try RowQueries.openChecked(DataDirectory(path: directory).database)
        let place = DataDirectory(path: target)
        try place.create()
        guard try place.isEmpty() else { throw StoreError(.unusable, "\(target) is not empty") }
        let partial = place.database + ".partial"
        do throws(StoreError) {
            let copy = try write(source, to: place, partial, progress)
            try verify(copy, partial)
            guard unsafe rename(partial, place.database) == 0 else {
                throw place.failure(.io, "can't rename \(partial)")
            }
            try place.sync()
            return copy.summary
        } catch {
            unsafe unlink(partial)
            throw error
        }
    }

    /// The content of a copy: its sizes, and a checksum over the rows' checksums and positions.
    private struct Content: Equatable {
        var summary = Summary(rows: 0, bytes: 0, head: 0)
        var checksum: UInt64 = 0

        mutating func add(_ row: LogRow) {
            summary.rows += 1
            summary.bytes += row.data.count
            summary.head = row.last
            for part in [UInt64(CRC32C.checksum(row.data.span)), UInt64(bitPattern: row.first)] {
                checksum = checksum &* 0x9e37_79b9_7f4a_7c15 &+ part
            }
        }
    }

    private static func write(
        _ source: RowQueries, to place: DataDirectory, _ partial: String, _ progress: (Summary) -> Void
    ) throws(StoreError) -> Content {
        var meta = try SQLiteSchema.meta(source.connection)
        // The original goes on or, if its end is lost, clients were shown records that the copy lacks.
        meta.branchedAt = Clocks.realtime() / 1_000_000
        let descriptor = unsafe open(partial, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw place.failure(.unusable, "can't make \(partial)") }
        close(descriptor)
        for _ in 0..<attempts {
            if let content = try fill(CopyWriter(partial, meta), from: source, progress) {
                try place.syncFile(partial)
                return content
            }
            guard unsafe truncate(partial, 0) == 0 else { throw place.failure(.io, "can't empty \(partial)") }
        }
        throw StoreError(.io, "the log was compacted faster than it could be copied, \(attempts) times")
    }

    /// Copies the rows of one instant. Returns nil when some of them were deleted meanwhile.
    private static func fill(
        _ writer: CopyWriter, from source: RowQueries, _ progress: (Summary) -> Void
    ) throws(StoreError) -> Content? {
        var content = Content()
        var verifier = ChainVerifier()
        var batch: [LogRow] = []
        var goal = try source.oldestRows(into: &batch)
        while content.summary.head < goal {
            progress(content.summary)
            for row in batch where content.summary.head < goal {
                do throws(StoreError) {
                    try verifier.check(row)
                } catch {
                    guard content.summary.rows > 0, try isDeleted(content.summary.head, source) else { throw error }
                    return nil
                }
                try writer.write(row)
                content.add(row)
                goal = max(goal, try restingOn(row))
            }
            guard content.summary.head < goal else { break }
            try source.fetch(from: content.summary.head + 1, into: &batch)
            if let rest = try condensedRest(after: content.summary.head, source) { batch.insert(rest, at: 0) }
            // The newest row is never deleted, so a log that ends before its head has been cut by hand.
            if batch.isEmpty { throw StoreError(.damaged, "the log was cut while it was copied") }
        }
        try writer.finish()
        return content
    }

    /// Returns the position that a copy with `row` must reach: the row's last or, for a condensed row, the later
    /// one that it rests on.
    private static func restingOn(_ row: LogRow) throws(StoreError) -> Int64 {
        guard BatchHeader.kind(of: row) == .condensed else { return row.last }
        var position = row.last
        try BatchRows.read(row) { record in
            if case .condensed(let last) = record.content { position = max(position, last) }
            return true
        }
        return position
    }

    /// Returns the part after `head` of a condensed row that meanwhile replaced copied rows and some after them;
    /// nil when there is none.
    private static func condensedRest(after head: Int64, _ source: RowQueries) throws(StoreError) -> LogRow? {
        guard var row = try source.row(before: head), row.last > head, BatchHeader.kind(of: row) == .condensed
        else { return nil }
        row.first = head + 1
        row.previous = head
        return row
    }

    /// Whether the row that ended at `last` is no longer stored.
    private static func isDeleted(_ last: Int64, _ source: RowQueries) throws(StoreError) -> Bool {
        try source.row(before: last)?.last != last
    }

    private static func verify(_ expected: Content, _ partial: String) throws(StoreError) {
        let copy = try RowQueries.openChecked(partial)
        var found = Content()
        var next = Int64.min
        var batch: [LogRow] = []
        repeat {
            try copy.fetch(from: next, into: &batch)
            for row in batch { found.add(row) }
            next = found.summary.head + 1
        } while !batch.isEmpty
        guard found == expected else { throw StoreError(.damaged, "the copy does not read back as it was written") }
    }
}

/// Writes the rows of a copy to a database that no other process reads: no journal, no sync before the end.
private final class CopyWriter {
    private let connection: SQLiteConnection
    private let insert: SQLiteStatement

    init(_ path: String, _ meta: SQLiteSchema.Meta) throws(StoreError) {
        (connection, insert) = try SQLiteSchema.attempt("making \(path)") { () throws(SQLiteFailure) in
            let connection = try SQLiteConnection(path: path, .readWrite)
            try connection.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
            try connection.execute(SQLiteSchema.fileSettings)
            try SQLiteSchema.create(connection, meta)
            try connection.execute("BEGIN IMMEDIATE")
            return (connection, try connection.prepare(SQLiteSchema.insertRow))
        }
    }

    func write(_ row: LogRow) throws(StoreError) {
        try SQLiteSchema.attempt("copying the row at position \(row.first)") { () throws(SQLiteFailure) in
            try SQLiteSchema.insert(row, insert)
        }
    }

    func finish() throws(StoreError) {
        try SQLiteSchema.attempt("finishing the copy") { () throws(SQLiteFailure) in
            try connection.execute("COMMIT")
        }
    }
}
