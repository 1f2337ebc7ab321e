internal import Platform
internal import TimerLog

/// The settling of an append: it commits first, then reads. The commit waits for the same standbys as the append
/// did, so what is read after it is not lost by a fail-over to one of them.
extension LogAppender {
    /// The most tries to begin an epoch while statements of this session are in the way.
    private static let reopenings = 5

    /// See `PostgresLogStore.settle`.
    func settle(_ rows: [LogRow], expecting: Int64, epoch: Int64) -> Settlement {
        lock.withLock {
            do throws(PostgresFailure) {
                guard let end = try reopen(before: rows.first?.first ?? 0) else { return .fenced }
                let chain = try read(rows, after: expecting)
                log.withLock { log in
                    log.end = end
                    log.isUnsettled = false
                }
                return judge(rows, epoch, after: expecting, end, chain)
            } catch {
                return .unknown(error.passingError("settling an append"))
            }
        }
    }

    /// Opens the log with a new epoch, after everything that the log holds.
    func reopen() throws(StoreError) -> StoreHead {
        try lock.withLock { () throws(StoreError) in
            let found: LogEnd?
            do throws(PostgresFailure) {
                found = try reopen(before: 0)
            } catch {
                throw error.passingError("opening the log again")
            }
            guard let end = found else { throw PostgresLogStore.fenced }
            log.withLock { $0 = OpenLog(end: end) }
            return head(end)
        }
    }

    /// Begins a new epoch. Returns the end of the log; nil where another session owns it.
    ///
    /// - Parameter first: a position that the row of the new epoch precedes where there is room.
    private func reopen(before first: Int64) throws(PostgresFailure) -> LogEnd? {
        for _ in 0..<Self.reopenings {
            guard let epoch = try ownEpoch() else {
                log.withLock { $0.fence() }
                return nil
            }
            do throws(PostgresFailure) {
                // An epoch that was followed by another meanwhile is read again.
                guard let end = try begin(epoch, before: first) else { continue }
                forgetStrays()
                return end
            } catch {
                guard error.isCertain, error.isDuplicate || error.isCollision || error.isLockTimeout else {
                    throw error
                }
                if error.isLockTimeout { try endStrays() }
            }
        }
        throw PostgresFailure("statements of this session are still under way", isCertain: true, kind: .unavailable)
    }

    /// Returns the log's epoch; nil where another session owns the log.
    private func ownEpoch() throws(PostgresFailure) -> Int64? {
        let found = try use { connection throws(PostgresFailure) in
            try connection.run(LogStatements.end, within: timeouts.statement)
        }
        return found.count == 1 && found.integer(0, 1) == session ? found.integer(0, 0) : nil
    }

    private func begin(_ epoch: Int64, before first: Int64) throws(PostgresFailure) -> LogEnd? {
        let made = try use { connection throws(PostgresFailure) in
            try connection.execute("SET lock_timeout = \((timeouts.lock + 999_999) / 1_000_000)")
            defer { _ = try? connection.execute("SET lock_timeout = 0") }
            return try connection.run(
                LogStatements.reopen,
                [
                    .int8(session), .int8(epoch), .int8(first), .int8(AppendRules.settlements),
                    .bytes(BatchRows.barrier()),
                ], within: timeouts.statement)
        }
        guard made.count == 1 else { return nil }
        return LogEnd(epoch: made.integer(0, 0), tail: made.integer(0, 1), last: made.integer(0, 2))
    }

    /// Ends the backends of this session's statements whose connections were closed: a backend that has run its
    /// statement and waits for the end of its transaction holds the statement's key for an unbounded time.
    private func endStrays() throws(PostgresFailure) {
        let name = PostgresConnection.Purpose(session: session).applicationName
        _ = try use { connection throws(PostgresFailure) in
            try connection.run(LogStatements.endBackends, [.int4s(strays), .text(name)], within: timeouts.statement)
        }
    }

    /// A row of the log as it was found.
    private struct Found {
        let previous: Int64
        let first: Int64
        let last: Int64
        let epoch: Int64
        let isBarrier: Bool
    }

    /// Reads the rows after the end that the append expected.
    private func read(_ rows: [LogRow], after expected: Int64) throws(PostgresFailure) -> [Found] {
        // The limit covers the rows of the append, and those that its settling has written.
        let count = rows.count + 4 * Int(AppendRules.settlements)
        let found = try use { connection throws(PostgresFailure) in
            try connection.run(LogStatements.chain, [.int8(expected), .int4(Int32(count))], within: timeouts.statement)
        }
        return (0..<found.count).map { row in
            Found(
                previous: found.integer(row, 0), first: found.integer(row, 1), last: found.integer(row, 2),
                epoch: found.integer(row, 3), isBarrier: BatchHeader(found.bytes(row, 4).span)?.kind == .barrier)
        }
    }

    private func judge(
        _ rows: [LogRow], _ epoch: Int64, after expected: Int64, _ end: LogEnd, _ chain: [Found]
    ) -> Settlement {
        guard chain.first?.previous == expected, chain.last?.last == end.last else {
            let what = "the log has no row that ends at position \(expected)"
            return .diverged(StoreError(.lost, "\(what): PostgreSQL has lost rows that it had promised to keep"))
        }
        let own = chain.prefix { !$0.isBarrier }
        let isOwn = zip(own, rows).allSatisfy { found, row in
            found.first == row.first && found.last == row.last && found.epoch == epoch
        }
        guard chain[own.endIndex...].allSatisfy(\.isBarrier), own.count <= rows.count, isOwn else {
            return .diverged(StoreError(.io, "the log goes on with other rows than were appended"))
        }
        if own.count == rows.count, !own.isEmpty { return .landed(head(end)) }
        if own.isEmpty, end.last < rows.first?.first ?? .max { return .absent(head(end)) }
        // The rest can't be written after the row that begins the new epoch.
        return .diverged(StoreError(.io, "the log holds \(own.count) of the \(rows.count) rows that were appended"))
    }
}
