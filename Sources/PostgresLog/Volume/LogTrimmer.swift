internal import Platform
internal import TimerLog

/// Deletes and condenses rows, on a connection of its own, beside the appends. Any thread.
final class LogTrimmer: Sendable {
    /// Most bytes of row data that one deletion removes, but for a single row that is larger.
    private static let bytesADelete = 4 << 20
    /// Most rows that one deletion removes.
    private static let rowsADelete: Int32 = 512

    let link: PostgresLink
    private let number: SessionNumber
    private var session: Int64 { number.value }
    private let upkeep: LogUpkeep
    private let timeouts: PostgresTimeouts

    init(_ link: PostgresLink, _ number: SessionNumber, upkeep: LogUpkeep, _ timeouts: PostgresTimeouts) {
        self.link = link
        self.number = number
        self.upkeep = upkeep
        self.timeouts = timeouts
    }

    /// Closes the connection.
    func close() { link.close() }

    /// Rows to delete.
    private struct Edge {
        var to: Int64
        var bytes = 0
        var stored = 0
        /// Those of them whose keys stay.
        var held: [HeldKey] = []
    }

    /// See `LogStore.delete`.
    func delete(upTo position: Int64, in store: PostgresLogStore) throws(StoreError) -> Int {
        let activity = "deleting rows of partition \(store.partition)"
        let (end, from) = store.state.withLock { ($0.end, $0.oldest) }
        guard let end else { throw PostgresLogStore.notOpen }
        try free(store, end, activity)
        let oldest = try use(activity) { connection throws(PostgresFailure) in
            try connection.run(
                LogStatements.oldest,
                [
                    .int4(Int32(store.partition)), .int8(from), .int4(Int32(RowCompression.headBytes)),
                    .int4(Self.rowsADelete),
                ], within: timeouts.statement)
        }
        guard let edge = try edge(oldest, upTo: position, end), edge.bytes > 0 else { return 0 }
        let gone = try use(activity) { connection throws(PostgresFailure) in
            try connection.run(
                LogStatements.delete,
                owner(store, end) + [.int8(from), .int8(edge.to), .int8s(edge.held.map(\.key))],
                within: timeouts.statement)
        }
        guard gone.changed > 0 else { throw try refusal(store, end, activity) }
        store.state.withLock { state in
            guard state.oldest == from, state.end != nil else { return }
            state.oldest = edge.to
            state.heldKeys += edge.held
        }
        upkeep.note(deleted: edge.stored)
        return edge.bytes
    }

    /// What says that the caller owns the partition and knows the end of its log: the first parameters of each statement.
    private func owner(_ store: PostgresLogStore, _ end: LogEnd) -> [PostgresValue] {
        [.int8(session), .int4(Int32(store.partition)), .int8(end.epoch), .int8(end.tail), .int8(end.last)]
    }

    /// Gives up the keys for which no append can come any more.
    private func free(_ store: PostgresLogStore, _ end: LogEnd, _ activity: String) throws(StoreError) {
        let keys = store.state.withLock { $0.heldKeys.filter { !$0.isNeeded }.map(\.key) }
        if keys.isEmpty { return }
        _ = try use(activity) { connection throws(PostgresFailure) in
            try connection.run(LogStatements.free, owner(store, end) + [.int8s(keys)], within: timeouts.statement)
        }
        store.state.withLock { $0.heldKeys.removeAll { keys.contains($0.key) } }
    }

    /// Which of the oldest rows one deletion takes; nil for none.
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
                if next.bytes > 0, next.bytes + size > Self.bytesADelete { break }
                next.bytes += size
                next.stored += stored
            }
            next.to = last
            edge = next
        }
        return edge
    }

    /// See `LogStore.replace`.
    func replace(with rows: [LogRow], in store: PostgresLogStore) throws(StoreError) {
        guard !rows.isEmpty else { return }
        let activity = "condensing rows of partition \(store.partition)"
        guard let end = store.state.withLock({ $0.end }) else { throw PostgresLogStore.notOpen }
        let partition = PostgresValue.int4(Int32(store.partition))
        var counts: [Int64] = []
        var stored = 0
        for row in rows {
            let key = LogEnd.stored(row.previous, in: store.partition)
            let span = try use(activity) { connection throws(PostgresFailure) in
                try connection.run(
                    LogStatements.span, [partition, .int8(key), .int8(row.last)], within: timeouts.statement)
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
                owner(store, end) + [
                    .int8s(rows.map { LogEnd.stored($0.previous, in: store.partition) }), .int8s(rows.map(\.first)),
                    .int8s(rows.map(\.last)), .int8s(rows.map(\.epoch)), .int8s(counts),
                    .byteArrays(rows.map { compression.stored($0.data) }),
                ], within: timeouts.statement)
        }
        guard changed.changed == rows.count else { throw try refusal(store, end, activity) }
        upkeep.note(deleted: stored)
    }

    /// Why the server changed nothing.
    private func refusal(_ store: PostgresLogStore, _ end: LogEnd, _ activity: String) throws(StoreError) -> StoreError
    {
        let found = try use(activity) { connection throws(PostgresFailure) in
            try connection.run(LogStatements.ends, [.int4s([Int32(store.partition)])], within: timeouts.statement)
        }
        guard found.count == 1, found.integer(0, 2) == session else {
            return StoreError(.fenced, "partition \(store.partition) is another session's")
        }
        guard found.integer(0, 4) >= end.last else {
            let what =
                "the log of partition \(store.partition) ends at position \(found.integer(0, 4)), not at \(end.last)"
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
