internal import Platform
internal import TimerLog

/// Finding out, finally, what became of an append: commit first, then read. The commit waits for the same standbys as the append
/// did, so what is read behind it is not lost by a fail-over to one of them.
extension LogAppender {
    /// How often it is tried anew while statements of this session are in the way.
    private static let reopenings = 5

    /// Settles appends to `stores`, one of each.
    func settle(_ appends: [PartitionAppend], of stores: [PostgresLogStore]) -> [Settlement] {
        lock.withLock {
            let wanted = zip(appends, stores).map { append, store in
                Wanted(store: store, first: append.rows.first?.first ?? 0)
            }
            do throws(PostgresFailure) {
                let reopened = try reopen(wanted)
                let chains = try read(appends, where: reopened.map { $0 != nil })
                return appends.indices.map { index in
                    guard let end = reopened[index] else { return .fenced }
                    return judge(appends[index], stores[index], end, chains[appends[index].partition] ?? [])
                }
            } catch {
                let unknown = error.passingError("settling an append")
                return appends.map { _ in .unknown(unknown) }
            }
        }
    }

    /// Begins a new epoch of one partition, behind whatever its log holds.
    func reopen(_ store: PostgresLogStore) throws(StoreError) -> StoreHead {
        try lock.withLock { () throws(StoreError) in
            let end: LogEnd?
            do throws(PostgresFailure) {
                end = try reopen([Wanted(store: store, first: 0)])[0]
            } catch {
                throw error.passingError("opening the log of partition \(store.partition) anew")
            }
            guard let end else { throw StoreError(.fenced, "partition \(store.partition) is another session's") }
            store.state.withLock { $0 = PostgresLogStore.State(end: end) }
            return store.head(end)
        }
    }

    /// A partition to reopen, and the first position that its new row has to precede where it can.
    private struct Wanted {
        let store: PostgresLogStore
        let first: Int64
    }

    /// Begins a new epoch for each in one statement. Returns where their logs end now; nil for those of other sessions.
    private func reopen(_ wanted: [Wanted]) throws(PostgresFailure) -> [LogEnd?] {
        var left = Array(wanted.indices)
        var ends = [LogEnd?](repeating: nil, count: wanted.count)
        for _ in 0..<Self.reopenings where !left.isEmpty {
            let epochs = try ownEpochs(left.map { wanted[$0].store.partition })
            for index in left where epochs[wanted[index].store.partition] == nil { wanted[index].store.fence() }
            left = left.filter { epochs[wanted[$0].store.partition] != nil }
            guard !left.isEmpty else { break }
            do throws(PostgresFailure) {
                let made = try begin(left.map { wanted[$0] }, epochs)
                for index in left { ends[index] = made[wanted[index].store.partition] }
                // An epoch that has gone on meanwhile is looked at again.
                left = left.filter { ends[$0] == nil }
            } catch {
                guard error.isCertain, error.isDuplicate || error.isCollision || error.isLockTimeout else {
                    throw error
                }
                if error.isLockTimeout { try endStrays() }
            }
        }
        guard left.isEmpty else {
            throw PostgresFailure("statements of this session are still under way", isCertain: true, kind: .unavailable)
        }
        forgetStrays()
        return ends
    }

    /// The epochs of those of `partitions` that are this session's.
    private func ownEpochs(_ partitions: [Int]) throws(PostgresFailure) -> [Int: Int64] {
        let found = try use { connection throws(PostgresFailure) in
            try connection.run(
                LogStatements.ends, [.int4s(partitions.map(Int32.init))], within: timeouts.statement)
        }
        var epochs: [Int: Int64] = [:]
        for row in 0..<found.count where found.integer(row, 2) == session {
            epochs[Int(found.integer(row, 0))] = found.integer(row, 1)
        }
        return epochs
    }

    private func begin(_ wanted: [Wanted], _ epochs: [Int: Int64]) throws(PostgresFailure) -> [Int: LogEnd] {
        let partitions = wanted.map(\.store.partition)
        let made = try use { connection throws(PostgresFailure) in
            try connection.execute("SET lock_timeout = \((timeouts.lock + 999_999) / 1_000_000)")
            defer { _ = try? connection.execute("SET lock_timeout = 0") }
            return try connection.run(
                LogStatements.reopen,
                [
                    .int8(session), .int4s(partitions.map(Int32.init)), .int8s(partitions.map { epochs[$0] ?? 0 }),
                    .int8s(wanted.map(\.first)), .bytes(BatchRows.barrier()),
                    .int8(PartitionLayout.settlements * stride), .int8(stride),
                ], within: timeouts.statement)
        }
        var ends: [Int: LogEnd] = [:]
        for row in 0..<made.count {
            ends[Int(made.integer(row, 0))] = LogEnd(
                epoch: made.integer(row, 3), tail: made.integer(row, 1), last: made.integer(row, 2))
        }
        return ends
    }

    /// Ends the backends of this session's statements whose connections were given up: one that was executed and waits for the
    /// end of its transaction holds its key as long as it likes.
    private func endStrays() throws(PostgresFailure) {
        let name = PostgresConnection.Purpose(session: session).applicationName
        _ = try use { connection throws(PostgresFailure) in
            try connection.run(LogStatements.endBackends, [.int4s(strays), .text(name)], within: timeouts.statement)
        }
    }

    /// A row of a log as it was found.
    private struct Found {
        let previous: Int64
        let first: Int64
        let last: Int64
        let epoch: Int64
        let isBarrier: Bool
    }

    /// The rows behind the ends that the appends expected, by partition.
    private func read(_ appends: [PartitionAppend], where isOwn: [Bool]) throws(PostgresFailure) -> [Int: [Found]] {
        let own = zip(appends, isOwn).filter(\.1).map(\.0)
        guard !own.isEmpty else { return [:] }
        let rows = try use { connection throws(PostgresFailure) in
            try connection.run(
                LogStatements.chain,
                [
                    .int4s(own.map { Int32($0.partition) }),
                    .int8s(own.map { LogEnd.stored($0.expecting, in: $0.partition) }),
                    // The rows of the append, and those that its settling has put there.
                    .int4s(own.map { Int32($0.rows.count + 4 * Int(PartitionLayout.settlements)) }),
                ], within: timeouts.statement)
        }
        var chains: [Int: [Found]] = [:]
        for row in 0..<rows.count {
            let data = rows.bytes(row, 5)
            chains[Int(rows.integer(row, 0)), default: []].append(
                Found(
                    previous: rows.integer(row, 1), first: rows.integer(row, 2), last: rows.integer(row, 3),
                    epoch: rows.integer(row, 4), isBarrier: BatchHeader(data.span)?.kind == .barrier))
        }
        return chains
    }

    private func judge(
        _ append: PartitionAppend, _ store: PostgresLogStore, _ end: LogEnd, _ chain: [Found]
    ) -> Settlement {
        store.state.withLock { state in
            state.end = end
            state.isUnsettled = false
        }
        let expected = LogEnd.stored(append.expecting, in: append.partition)
        guard chain.first?.previous == expected, chain.last?.last == end.last else {
            let what = "the log of partition \(append.partition) has no row that ends at position \(append.expecting)"
            return .diverged(StoreError(.lost, "\(what): PostgreSQL has lost rows that it had promised to keep"))
        }
        let others = chain.drop { !$0.isBarrier }
        let own = chain.prefix { !$0.isBarrier }
        let isOwn =
            own.count == append.rows.count
            && zip(own, append.rows).allSatisfy { found, row in
                found.first == row.first && found.last == row.last && found.epoch == append.epoch
            }
        if others.allSatisfy(\.isBarrier), isOwn, !own.isEmpty { return .landed(store.head(end)) }
        if own.isEmpty, others.allSatisfy(\.isBarrier), end.last < append.rows.first?.first ?? .max {
            return .absent(store.head(end))
        }
        return .diverged(
            StoreError(.io, "the log of partition \(append.partition) goes on with other rows than were appended"))
    }
}
