internal import Platform
internal import TimerLog

/// What the logs of a volume share: connections, and what is known of the cluster.
final class PostgresStorage: Sendable {
    private let number: SessionNumber
    /// The session under which it appends.
    var session: Int64 { number.value }
    let meta: PostgresSchema.Meta
    let timeouts: PostgresTimeouts
    let readers: ReaderLinks
    let appender: LogAppender
    let trimmer: LogTrimmer
    let upkeep: LogUpkeep

    /// Connects, and checks that the tables are there and that sessions are the server's.
    init(
        _ address: PostgresAddress, session: Int64, _ timeouts: PostgresTimeouts,
        warn: @escaping @Sendable (String) -> Void
    ) throws(StoreError) {
        let number = SessionNumber(session)
        self.number = number
        self.timeouts = timeouts
        let purpose = PostgresConnection.Purpose(session: session, statementTimeout: timeouts.statement)
        let writer = PostgresLink(address, for: purpose, timeouts)
        readers = ReaderLinks(address, session: session, timeouts)
        meta = try Self.begin(writer, readers)
        upkeep = LogUpkeep(address, session: session, timeouts, warn: warn)
        appender = LogAppender(writer, number, stride: meta.layout.stride, secret: meta.secret, timeouts)
        trimmer = LogTrimmer(
            PostgresLink(address, for: purpose, timeouts), number, upkeep: upkeep, timeouts)
        let size = try readers.read("measuring the log") { connection throws(PostgresFailure) in
            try connection.run(LogStatements.size, within: timeouts.statement).integer(0, 0)
        }
        upkeep.note(size: Int(size))
    }

    private static func begin(_ writer: PostgresLink, _ readers: ReaderLinks) throws(StoreError) -> PostgresSchema.Meta
    {
        let meta: Result<PostgresSchema.Meta, StoreError>
        do throws(PostgresFailure) {
            meta = try writer.use { connection throws(PostgresFailure) in
                let found = Result { () throws(StoreError) in try PostgresSchema.meta(connection) }
                try readers.use { other throws(PostgresFailure) in
                    try PoolerCheck.verify(connection, other)
                }
                return found
            }
        } catch {
            throw error.storeError("connecting")
        }
        return try meta.get()
    }

    /// Appends under another session from now on, after the append under way.
    func begin(session: Int64) {
        guard number.begin(session) else { return }
        appender.link.begin(session: session)
        trimmer.link.begin(session: session)
    }

    /// Whose a partition is, and where its log ends. Throws `fenced` where it is another session's.
    func readEnd(of partition: Int) throws(StoreError) -> LogEnd {
        let found = try readers.read("opening the log of partition \(partition)") {
            connection throws(PostgresFailure) in
            try connection.run(LogStatements.ends, [.int4s([Int32(partition)])], within: timeouts.statement)
        }
        guard found.count == 1 else {
            throw StoreError(.damaged, "the log of partition \(partition) is damaged: it has no row")
        }
        guard found.integer(0, 2) == session else {
            throw StoreError(.fenced, "partition \(partition) is another session's")
        }
        return LogEnd(epoch: found.integer(0, 1), tail: found.integer(0, 3), last: found.integer(0, 4))
    }

    /// Closes every connection.
    func close() {
        upkeep.stop()
        appender.close()
        trimmer.close()
        readers.close()
    }
}

extension PostgresFailure {
    /// What it is while a server runs: what was right at its start, and can be so again, is `unavailable`.
    func passingError(_ activity: String) -> StoreError {
        var error = storeError(activity)
        if let state, state.hasPrefix("28") || state == "3D000" { error.kind = .unavailable }
        return error
    }
}
