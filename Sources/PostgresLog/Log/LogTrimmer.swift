internal import Platform
internal import TimerLog

/// Deletes and condenses rows, on a connection of its own, beside the appends. May be called on any thread.
final class LogTrimmer: Sendable {
    /// The most rows that one deletion removes.
    private static let rowsADelete: Int32 = 512

    let link: PostgresLink
    private let number: SessionNumber
    private var session: Int64 { number.value }
    private let log: Guarded<OpenLog>
    private let upkeep: LogUpkeep
    private let timeouts: PostgresTimeouts

    init(
        _ link: PostgresLink, _ number: SessionNumber, _ log: Guarded<OpenLog>, _ upkeep: LogUpkeep,
        _ timeouts: PostgresTimeouts
    ) {
        self.link = link
        self.number = number
        self.log = log
        self.upkeep = upkeep
        self.timeouts = timeouts
    }

    /// The rows to delete: those before the key `to`.
    private struct Edge {
        var to: Int64
        var bytes = 0
        var stored = 0
        /// The rows among them whose keys stay.
        var held: [HeldKey] = []
    }

    /// See `LogStore.delete`.
    func delete(upTo position: Int64) throws(StoreError) -> Int {
        let activity = "deleting rows"
        let (found, from) = log.withLock { ($0.end, $0.oldest) }
        guard let end = found else { throw PostgresLogStore.notOpen }
        try free(end, activity)
        let oldest = try use(activity) { connection throws(PostgresFailure) in
            try connection.run(
                LogStatements.oldest,
                [.int8(from), .int4(Int32(RowCompression.headBytes)), .int4(Self.rowsADelete)],
                within: timeouts.statement)
        }
        guard let edge = try edge(oldest, upTo: position, end), edge.bytes > 0 else { return 0 }
        let gone = try use(activity) { connection throws(PostgresFailure) in
            try connection.run(
                LogStatements.delete,
                owner(end) + [.int8(from), .int8(edge.to), .int8s(edge.held.map(\.key))],
                within: timeouts.statement)
        }
        guard gone.changed > 0 else { throw try refusal(end, activity) }
        log.withLock { log in
            guard log.oldest == from, log.end != nil else { return }
            log.oldest = edge.to
            log.heldKeys += edge.held
        }
        upkeep.note(deleted: edge.stored)
        return edge.bytes
    }

    /// Returns the first parameters of each statement, which say that the caller owns the log and knows its end.
    private func owner(_ end: LogEnd) -> [PostgresValue] {
        [.int8(session), .int8(end.epoch), .int8(end.tail), .int8(end.last)]
    }

    /// Frees the keys that no stalled append can take any more.
    private func free(_ end: LogEnd, _ activity: String) throws(StoreError) {
        let keys = log.withLock { $0.heldKeys.filter { !$0.isNeeded }.map(\.key) }
        if keys.isEmpty { return }
        _ = try use(activity) { connection throws(PostgresFailure) in
            try connection.run(LogStatements.free, owner(end) + [.int8s(keys)], within: timeouts.statement)
        }
        log.withLock { $0.heldKeys.removeAll { keys.contains($0.key) } }
    }

    /// Returns the oldest rows that one deletion removes; nil for none.
    private func edge(
        _ rows: PostgresResult, upTo position: Int64, _ end: LogEnd
    ) throws(StoreError) -> Edge? {
        var edge: Edge?
        for row in 0..<rows.count {
            let (key, first, last) = (rows.integer(row, 0), rows.integer(row, 1), rows.integer(row, 2))
            let head = rows.bytes(row, 4)
            guard last <= position, key < end.tail else { break }
            let stored = Int(rows.integer(row, 3))
            guard let size = key < 0 ? 0 : RowCompression.dataCount(head, of: stored) else {
                throw StoreError(.damaged, "the row at position \(first) is damaged: its data can't be decompressed")
            }
            var next = edge ?? Edge(to: last)
            let held = HeldKey(key: key, position: first)
            let isBarrier = stored == 0 || BatchHeader(head.span)?.kind == .barrier
            if key >= 0, isBarrier, held.isNeeded {
                next.held.append(held)
            } else {
                if next.bytes > 0, next.bytes + size > StoreLimits.bytesADelete { break }
                next.bytes += size
                next.stored += stored
            }
            next.to = last
            edge = next
        }
        return edge
    }

    /// See `LogStore.replace`.
    func replace(with rows: [LogRow]) throws(StoreError) {
        guard !rows.isEmpty else { return }
        let activity = "condensing rows"
        guard let end = log.withLock({ $0.end }) else { throw PostgresLogStore.notOpen }
        var counts: [Int64] = []
        var stored = 0
        for row in rows {
            let span = try use(activity) { connection throws(PostgresFailure) in
                try connection.run(
                    LogStatements.span, [.int8(row.previous), .int8(row.last)], within: timeouts.statement)
            }
            guard span.integer(0, 0) > 0, span.integer(0, 1) == row.first, span.integer(0, 2) == row.last,
                row.last <= end.tail
            else { throw StoreError(.damaged, "the rows at positions \(row.first)…\(row.last) are not there") }
            counts.append(span.integer(0, 0))
            stored += Int(span.integer(0, 3))
        }
        let compression = RowCompression()
        let changed = try use(activity) { connection throws(PostgresFailure) in
            try connection.run(
                LogStatements.replace,
                owner(end) + [
                    .int8s(rows.map(\.previous)), .int8s(rows.map(\.first)), .int8s(rows.map(\.last)),
                    .int8s(rows.map(\.epoch)), .int8s(counts),
                    .byteArrays(rows.map { compression.stored($0.data) }),
                ], within: timeouts.statement)
        }
        guard changed.changed == rows.count else { throw try refusal(end, activity) }
        upkeep.note(deleted: stored)
    }

    /// Returns why the server changed nothing.
    private func refusal(_ end: LogEnd, _ activity: String) throws(StoreError) -> StoreError {
        let found = try use(activity) { connection throws(PostgresFailure) in
            try connection.run(LogStatements.end, within: timeouts.statement)
        }
        guard found.count == 1, found.integer(0, 1) == session else { return PostgresLogStore.fenced }
        guard found.integer(0, 3) >= end.last else {
            let what = "the log ends at position \(found.integer(0, 3)), not at \(end.last)"
            return StoreError(.lost, "\(what): PostgreSQL has lost rows that it had promised to keep")
        }
        return StoreError(.unavailable, "PostgreSQL did nothing, while \(activity)")
    }

    private func use<Result>(
        _ activity: String, _ body: (PostgresConnection) throws(PostgresFailure) -> Result
    ) throws(StoreError) -> Result {
        do throws(PostgresFailure) {
            return try link.use(body)
        } catch {
            throw error.passingError(activity)
        }
    }
}
