internal import Platform
internal import TimerLog

/// Appends rows, on a connection of its own. Any thread; one at a time appends.
final class LogAppender: @unchecked Sendable {  // unchecked: what changes is touched under the lock
    /// Rows of one partition on their way.
    private struct Ready {
        let index: Int
        let store: PostgresLogStore
        let end: LogEnd
        let rows: [LogRow]
        let stored: [[UInt8]]
        let bytes: Int
    }

    /// How often an append that collides with another one is repeated.
    private static let tries = 3
    /// How many backends are remembered whose appends may still be under way.
    private static let backendsKept = 16

    let link: PostgresLink
    private let number: SessionNumber
    var session: Int64 { number.value }
    let stride: Int64
    let secret: [UInt8]
    let timeouts: PostgresTimeouts
    let lock = Lock()
    /// Backends whose connections were given up during a statement.
    private(set) var strays: [Int32] = []
    private let compression = RowCompression()

    init(_ link: PostgresLink, _ number: SessionNumber, stride: Int64, secret: [UInt8], _ timeouts: PostgresTimeouts) {
        self.link = link
        self.number = number
        self.stride = stride
        self.secret = secret
        self.timeouts = timeouts
    }

    /// Closes the connection.
    func close() { link.close() }

    /// Appends to `stores`, one of each append.
    func append(_ appends: [PartitionAppend], to stores: [PostgresLogStore]) -> [AppendOutcome] {
        lock.withLock {
            var outcomes = [AppendOutcome](repeating: .durable, count: appends.count)
            var group: [Ready] = []
            var bytes = 0
            var failure: StoreError?
            func send() {
                guard !group.isEmpty else { return }
                let made =
                    failure.map { failure in group.map { _ in AppendOutcome.absent(failure) } } ?? self.send(group)
                for (ready, outcome) in zip(group, made) {
                    outcomes[ready.index] = outcome
                    if case .unknown(let error) = outcome { failure = StoreError(.unavailable, error.description) }
                }
                (group, bytes) = ([], 0)
            }
            for (index, append) in appends.enumerated() {
                switch prepare(append, index, stores[index]) {
                case .success(let ready):
                    guard let ready else { continue }
                    if bytes + ready.bytes > PostgresLogVolume.bytesAStatement { send() }
                    group.append(ready)
                    bytes += ready.bytes
                case .failure(let refusal): outcomes[index] = refusal.outcome
                }
            }
            send()
            return outcomes
        }
    }

    /// Why rows are not sent.
    private struct Refusal: Error { let outcome: AppendOutcome }

    private func prepare(
        _ append: PartitionAppend, _ index: Int, _ store: PostgresLogStore
    ) -> Result<Ready?, Refusal> {
        let (end, isUnsettled) = store.state.withLock { ($0.end, $0.isUnsettled) }
        guard let end else { return .failure(Refusal(outcome: .absent(PostgresLogStore.notOpen))) }
        guard !isUnsettled else {
            let error = StoreError(.unavailable, "what became of the append before is not settled")
            return .failure(Refusal(outcome: .absent(error)))
        }
        let refusal = AppendRules.refusal(
            append.rows, expecting: append.expecting, epoch: append.epoch, head: store.head(end))
        if let refusal { return .failure(Refusal(outcome: refusal)) }
        guard !append.rows.isEmpty else { return .success(nil) }
        let stored = append.rows.map { compression.stored($0.data) }
        let bytes = stored.reduce(0) { $0 + $1.count }
        guard bytes <= PostgresLogVolume.bytesAnAppend else {
            let most = PostgresLogVolume.bytesAnAppend
            let error = StoreError(.damaged, "an append of \(bytes) bytes to one partition; at most \(most) fit")
            return .failure(Refusal(outcome: .absent(error)))
        }
        return .success(Ready(index: index, store: store, end: end, rows: append.rows, stored: stored, bytes: bytes))
    }

    /// Sends one statement.
    private func send(_ group: [Ready]) -> [AppendOutcome] {
        for _ in 0..<Self.tries {
            let result: PostgresResult
            do throws(PostgresFailure) {
                result = try insert(group)
            } catch {
                guard error.isCertain else { return fail(group, error) }
                if error.isDuplicate || error.isCollision {
                    // Of several, one is in the way of the others.
                    if group.count > 1 { return group.flatMap { send([$0]) } }
                    if error.isCollision { continue }
                    return [look(group[0])]
                }
                let absent = error.passingError("appending")
                return group.map { _ in .absent(absent) }
            }
            return judge(group, result)
        }
        let error = StoreError(.unavailable, "PostgreSQL: an append collided with other statements again and again")
        return group.map { _ in .absent(error) }
    }

    private func insert(_ group: [Ready]) throws(PostgresFailure) -> PostgresResult {
        var (parts, epochs, tails, heads): ([Int32], [Int64], [Int64], [Int64]) = ([], [], [], [])
        var (previous, firsts, lasts, datas): ([Int64], [Int64], [Int64], [[UInt8]]) = ([], [], [], [])
        for ready in group {
            for (row, data) in zip(ready.rows, ready.stored) {
                parts.append(Int32(ready.store.partition))
                epochs.append(ready.end.epoch)
                tails.append(ready.end.tail)
                heads.append(ready.end.last)
                previous.append(LogEnd.stored(row.previous, in: ready.store.partition))
                firsts.append(row.first)
                lasts.append(row.last)
                datas.append(data)
            }
        }
        let mebibytes = Int64(group.reduce(0) { $0 + $1.bytes } >> 20)
        let limit = timeouts.statement + mebibytes * timeouts.mebibyte
        return try use { connection throws(PostgresFailure) in
            try connection.limitStatements(to: limit)
            return try connection.run(
                LogStatements.append,
                [
                    .int8(session), .int4s(parts), .int8s(epochs), .int8s(tails), .int8s(heads), .int8s(previous),
                    .int8s(firsts), .int8s(lasts), .byteArrays(datas),
                    // A statement that the server ends in time is known to be absent.
                ], within: limit + limit / 10)
        }
    }

    private func judge(_ group: [Ready], _ result: PostgresResult) -> [AppendOutcome] {
        var counts: [Int64: Int] = [:]
        for row in 0..<result.count { counts[result.integer(row, 0), default: 0] += 1 }
        return group.map { ready in
            let count = counts[Int64(ready.store.partition)] ?? 0
            guard count > 0 else { return look(ready) }
            ready.store.state.withLock { state in
                guard let row = ready.rows.last, state.end == ready.end else { return }
                state.end?.tail = LogEnd.stored(row.previous, in: ready.store.partition)
                state.end?.last = row.last
            }
            return .durable
        }
    }

    private func fail(_ group: [Ready], _ failure: PostgresFailure) -> [AppendOutcome] {
        let error = failure.passingError("appending")
        for ready in group { ready.store.state.withLock { $0.isUnsettled = true } }
        return group.map { _ in .unknown(error) }
    }

    /// Why nothing was written for one partition.
    private func look(_ ready: Ready) -> AppendOutcome {
        let found: PostgresResult
        let partition = ready.store.partition
        do throws(PostgresFailure) {
            found = try use { connection throws(PostgresFailure) in
                try connection.run(LogStatements.ends, [.int4s([Int32(partition)])], within: timeouts.statement)
            }
        } catch {
            return .absent(error.passingError("finding out why an append was refused"))
        }
        guard found.count == 1, found.integer(0, 2) == session, found.integer(0, 1) == ready.end.epoch else {
            ready.store.fence()
            return .fenced
        }
        let last = found.integer(0, 4)
        if last == ready.end.last, found.integer(0, 3) == ready.end.tail {
            return .absent(StoreError(.unavailable, "PostgreSQL refused an append to partition \(partition)"))
        }
        let what = "the log of partition \(partition) ends at position \(last), not at \(ready.end.last)"
        return .diverged(
            last < ready.end.last
                ? StoreError(.lost, "\(what): PostgreSQL has lost rows that it had promised to keep")
                : StoreError(.io, what))
    }

    /// Runs `body` with the connection. One that says not whether its statement was committed, be it by a warning, is given up,
    /// and its backend remembered.
    func use(
        _ body: (PostgresConnection) throws(PostgresFailure) -> PostgresResult
    ) throws(PostgresFailure) -> PostgresResult {
        var backend: Int32?
        do throws(PostgresFailure) {
            return try link.use { connection throws(PostgresFailure) in
                backend = connection.backend
                let result = try body(connection)
                if let warning = result.warning {
                    throw PostgresFailure("the server warned: \(warning)", isCertain: false)
                }
                guard connection.isIdle else {
                    throw PostgresFailure("the server left the statement in a transaction", isCertain: false)
                }
                return result
            }
        } catch {
            if !error.isCertain, let backend { strays = (strays + [backend]).suffix(Self.backendsKept) }
            throw error
        }
    }

    /// Forgets the backends whose statements have ended.
    func forgetStrays() { strays = [] }
}
