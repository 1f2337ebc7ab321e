internal import Platform
internal import TimerLog

/// Appends rows, on a connection of its own. May be called on any thread; one at a time appends.
final class LogAppender: @unchecked Sendable {  // unchecked: what changes is touched under the lock
    /// The most stored bytes that one statement carries, but for a single larger row.
    static let bytesAStatement = 8 << 20
    /// The most tries of an append that collides with another statement.
    private static let tries = 3
    /// The most backends that are remembered because their appends may still be under way.
    private static let backendsKept = 16

    /// The rows of one statement.
    struct Piece {
        var rows: ArraySlice<LogRow>
        var stored: [[UInt8]] = []
        var bytes = 0
    }

    let link: PostgresLink
    let log: Guarded<OpenLog>
    private let number: SessionNumber
    var session: Int64 { number.value }
    private let secret: [UInt8]
    let timeouts: PostgresTimeouts
    let lock = Lock()
    /// Backends whose connections were closed during a statement.
    private(set) var strays: [Int32] = []
    private let compression = RowCompression()

    init(
        _ link: PostgresLink, _ number: SessionNumber, _ log: Guarded<OpenLog>, secret: [UInt8],
        _ timeouts: PostgresTimeouts
    ) {
        self.link = link
        self.number = number
        self.log = log
        self.secret = secret
        self.timeouts = timeouts
    }

    /// Converts the end of the log for the store's callers.
    func head(_ end: LogEnd) -> StoreHead { StoreHead(epoch: end.epoch, last: end.last, secret: secret) }

    /// See `PostgresLogStore.append`.
    func append(_ rows: [LogRow], expecting: Int64, epoch: Int64) -> AppendOutcome {
        lock.withLock {
            let (found, isUnsettled) = log.withLock { ($0.end, $0.isUnsettled) }
            guard let end = found else { return .absent(PostgresLogStore.notOpen) }
            guard !isUnsettled else {
                return .absent(StoreError(.unavailable, "the outcome of the append before is not settled"))
            }
            let refusal = AppendRules.refusal(rows, expecting: expecting, epoch: epoch, head: head(end))
            if let refusal { return refusal }
            return send(pieces(of: rows), after: end)
        }
    }

    /// Cuts rows into pieces, each for one statement.
    private func pieces(of rows: [LogRow]) -> [Piece] {
        var pieces: [Piece] = []
        for index in rows.indices {
            let stored = compression.stored(rows[index].data)
            if pieces.isEmpty || pieces[pieces.count - 1].bytes + stored.count > Self.bytesAStatement {
                pieces.append(Piece(rows: rows[index..<index]))
            }
            let last = pieces.count - 1
            pieces[last].rows = rows[pieces[last].rows.startIndex...index]
            pieces[last].stored.append(stored)
            pieces[last].bytes += stored.count
        }
        return pieces
    }

    private func send(_ pieces: [Piece], after end: LogEnd) -> AppendOutcome {
        var end = end
        for (index, piece) in pieces.enumerated() {
            let outcome = send(piece, after: end)
            guard outcome == .durable, let row = piece.rows.last else {
                return index == 0 ? outcome : interrupted(outcome, at: end)
            }
            let next = LogEnd(epoch: end.epoch, tail: row.previous, last: row.last)
            change(from: end) { $0.end = next }
            end = next
        }
        return .durable
    }

    /// Returns the outcome of an append whose first rows are durable and whose others are not, or may not be.
    private func interrupted(_ outcome: AppendOutcome, at end: LogEnd) -> AppendOutcome {
        let cause =
            switch outcome {
            case .absent(let error), .unknown(let error), .diverged(let error): error
            case .fenced, .durable: PostgresLogStore.fenced
            }
        leaveUnsettled(end)
        return .unknown(StoreError(.unavailable, "only the first rows of an append are written: \(cause)"))
    }

    /// Changes the state of the log, which ended so when the statement was sent. A statement may be answered only after the log
    /// was closed, and even taken and opened again: then its outcome is no matter of the log that is open.
    ///
    /// - Returns: whether the log still ends so.
    @discardableResult
    private func change(from end: LogEnd?, _ body: (inout OpenLog) -> Void) -> Bool {
        log.withLock { log in
            guard log.end == end else { return false }
            body(&log)
            return true
        }
    }

    /// Notes that the outcome of an append after `end` is unknown. A log that was closed meanwhile is opened with a new epoch.
    private func leaveUnsettled(_ end: LogEnd) {
        log.withLock { if $0.end == nil || $0.end == end { $0.isUnsettled = true } }
    }

    /// Sends one statement.
    private func send(_ piece: Piece, after end: LogEnd) -> AppendOutcome {
        for _ in 0..<Self.tries {
            do throws(PostgresFailure) {
                return try insert(piece, after: end).changed > 0 ? .durable : look(end)
            } catch {
                guard error.isCertain else {
                    leaveUnsettled(end)
                    return .unknown(error.passingError("appending"))
                }
                if error.isCollision { continue }
                return error.isDuplicate ? look(end) : .absent(error.passingError("appending"))
            }
        }
        return .absent(
            StoreError(.unavailable, "PostgreSQL: an append collided with other statements again and again"))
    }

    private func insert(_ piece: Piece, after end: LogEnd) throws(PostgresFailure) -> PostgresResult {
        let limit = timeouts.statement + Int64(piece.bytes >> 20) * timeouts.mebibyte
        return try use { connection throws(PostgresFailure) in
            try connection.limitStatements(to: limit)
            return try connection.run(
                LogStatements.append,
                [
                    .int8(session), .int8(end.epoch), .int8(end.tail), .int8(end.last),
                    .int8s(piece.rows.map(\.previous)), .int8s(piece.rows.map(\.first)),
                    .int8s(piece.rows.map(\.last)), .byteArrays(piece.stored),
                    // The server's own limit is shorter, and a statement that the server ends is known to be
                    // absent.
                ], within: limit + limit / 10)
        }
    }

    /// Returns why nothing was written.
    private func look(_ end: LogEnd) -> AppendOutcome {
        let found: PostgresResult
        do throws(PostgresFailure) {
            found = try use { connection throws(PostgresFailure) in
                try connection.run(LogStatements.end, within: timeouts.statement)
            }
        } catch {
            return .absent(error.passingError("finding out why an append was refused"))
        }
        guard found.count == 1, found.integer(0, 1) == session, found.integer(0, 0) == end.epoch else {
            change(from: end) { $0.fence() }
            return .fenced
        }
        let last = found.integer(0, 3)
        if last == end.last, found.integer(0, 2) == end.tail {
            return .absent(StoreError(.unavailable, "PostgreSQL refused an append"))
        }
        let what = "the log ends at position \(last), not at \(end.last)"
        return .diverged(
            last < end.last
                ? StoreError(.lost, "\(what): PostgreSQL has lost rows that it had promised to keep")
                : StoreError(.io, what))
    }

    /// Runs `body` with the connection. If it is uncertain whether the statement was committed, as after a warning,
    /// the connection is closed and its backend remembered in `strays`.
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

/// The settling of an append: it commits first, then reads. The commit waits for the same standbys as the append
/// did, so what is read after it is not lost by a fail-over to one of them.
extension LogAppender {
    /// The most tries to begin an epoch while statements of this session are in the way.
    private static let reopenings = 5

    /// See `PostgresLogStore.settle`.
    func settle(_ rows: [LogRow], expecting: Int64, epoch: Int64) -> Settlement {
        lock.withLock {
            do throws(PostgresFailure) {
                // A log that was closed is another process's, or about to be.
                guard let known = log.withLock({ $0.end }) else { return .fenced }
                guard let end = try reopen(from: known, before: rows.first?.first ?? 0) else { return .fenced }
                let chain = try read(rows, after: expecting)
                let isSame = change(from: known) { log in
                    log.end = end
                    log.isUnsettled = false
                }
                guard isSame else { return .fenced }
                return judge(rows, epoch, after: expecting, end, chain)
            } catch {
                return .unknown(error.passingError("settling an append"))
            }
        }
    }

    /// Opens the log with a new epoch, after everything that the log holds.
    func reopen() throws(StoreError) -> StoreHead {
        try lock.withLock { () throws(StoreError) in
            let known = log.withLock { $0.end }
            let found: LogEnd?
            do throws(PostgresFailure) {
                found = try reopen(from: known, before: 0)
            } catch {
                throw error.passingError("opening the log again")
            }
            guard let end = found, change(from: known, { $0 = OpenLog(end: end) }) else {
                throw PostgresLogStore.fenced
            }
            return head(end)
        }
    }

    /// Begins a new epoch. Returns the end of the log; nil where another session owns it, or this one by another take.
    ///
    /// - Parameters:
    ///   - known: the end of the log as it was when the log was to be opened again.
    ///   - first: a position that the row of the new epoch precedes where there is room.
    private func reopen(from known: LogEnd?, before first: Int64) throws(PostgresFailure) -> LogEnd? {
        for _ in 0..<Self.reopenings {
            guard let epoch = try ownEpoch() else {
                change(from: known) { $0.fence() }
                return nil
            }
            // The epoch of another take is not this one's to end.
            guard log.withLock({ $0.end == known }) else { return nil }
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
