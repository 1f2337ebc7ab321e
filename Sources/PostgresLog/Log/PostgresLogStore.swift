internal import Platform
internal import Synchronization
public import TimerLog

/// The log of a cluster in PostgreSQL, as one process sees it: its session appends while it owns the log.
///
/// `delete` and `replace` run beside appends, on a connection of their own.
public final class PostgresLogStore: LogStore {
    /// True: other processes write to the same tables.
    public var isShared: Bool { true }
    /// The cluster's secret.
    public let secret: [UInt8]?
    let log = Guarded(OpenLog())
    let readers: ReaderLinks
    private let number: SessionNumber
    private let timeouts: PostgresTimeouts
    private let appender: LogAppender
    private let trimmer: LogTrimmer
    private let upkeep: LogUpkeep

    /// Connects, and checks that the tables exist and that no pooler divides the connection among backends.
    ///
    /// - Parameters:
    ///   - session: the session of this process, the same that takes the log.
    ///   - warn: called, once with each text, with what an operator should mend.
    /// - Throws: `unusable` where the tables are missing or of another version, or a pooler hands each transaction
    ///   to another backend; `unavailable` where the server can't be reached.
    public convenience init(
        _ address: PostgresAddress, session: Int64, warn: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(StoreError) {
        try self.init(address, session: session, PostgresTimeouts(), warn: warn)
    }

    init(
        _ address: PostgresAddress, session: Int64, _ timeouts: PostgresTimeouts,
        warn: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(StoreError) {
        let purpose = PostgresConnection.Purpose(session: session, statementTimeout: timeouts.statement)
        let writer = PostgresLink(address, for: purpose, timeouts)
        let trimming = PostgresLink(address, for: purpose, timeouts)
        readers = ReaderLinks(address, session: session, timeouts)
        let secret = try Self.connect(writer, readers)
        self.secret = secret
        self.timeouts = timeouts
        number = SessionNumber(session)
        upkeep = LogUpkeep(address, session: session, timeouts, warn: warn)
        appender = LogAppender(writer, number, log, secret: secret, timeouts)
        trimmer = LogTrimmer(trimming, number, log, upkeep, timeouts)
        let size = try readers.read("measuring the log") { connection throws(PostgresFailure) in
            try connection.run(LogStatements.size, within: timeouts.statement).integer(0, 0)
        }
        upkeep.note(size: Int(size))
    }

    /// Returns the cluster's secret.
    private static func connect(_ writer: PostgresLink, _ readers: ReaderLinks) throws(StoreError) -> [UInt8] {
        let secret: Result<[UInt8], StoreError>
        do throws(PostgresFailure) {
            secret = try writer.use { connection throws(PostgresFailure) in
                let found = Result { () throws(StoreError) in try PostgresSchema.secret(connection) }
                try readers.use { other throws(PostgresFailure) in
                    try PoolerCheck.verify(connection, other)
                }
                return found
            }
        } catch {
            throw error.storeError("connecting")
        }
        return try secret.get()
    }

    /// Makes appends use another session from now on, after the append under way: the last session was ended, and
    /// its log dropped.
    public func begin(session: Int64) {
        guard number.begin(session) else { return }
        appender.link.begin(session: session)
        trimmer.link.begin(session: session)
    }

    /// Finds out who owns the log and where it ends. After an append whose outcome is not known it begins a new
    /// epoch first, so that what it finds is final. Throws `fenced` where another session owns the log,
    /// `unavailable` where PostgreSQL can't be reached.
    public func open() throws(StoreError) -> StoreHead {
        if log.withLock({ $0.isUnsettled }) { return try appender.reopen() }
        let found = try readers.read("opening the log") { connection throws(PostgresFailure) in
            try connection.run(LogStatements.end, within: timeouts.statement)
        }
        guard found.count == 1 else {
            throw StoreError(.damaged, "the log is damaged: it has no row, or the table timerd_owner has none")
        }
        guard found.integer(0, 1) == number.value else { throw Self.fenced }
        let end = LogEnd(epoch: found.integer(0, 0), tail: found.integer(0, 2), last: found.integer(0, 3))
        log.withLock { $0 = OpenLog(end: end) }
        return appender.head(end)
    }

    /// Writes `rows` in one statement or, where they have more than `LogAppender.bytesAStatement` bytes, in
    /// several, in order. If one of the later statements fails, the outcome is `unknown`, and the log may hold the
    /// rows of those before it.
    public func append(_ rows: [LogRow], expecting: Int64, epoch: Int64) -> AppendOutcome {
        appender.append(rows, expecting: expecting, epoch: epoch)
    }

    /// Begins a new epoch, and reads what the log holds then. Returns `diverged` where the log holds only some of
    /// the rows, the first ones.
    public func settle(_ rows: [LogRow], expecting: Int64, epoch: Int64) -> Settlement {
        appender.settle(rows, expecting: expecting, epoch: epoch)
    }

    /// Removes rows as `LogStore.delete` says, at most 512 a call. The key of a row that begins an epoch stays
    /// taken for ten minutes: a stalled append may still take it.
    public func delete(upTo position: Int64) throws(StoreError) -> Int { try trimmer.delete(upTo: position) }

    /// Replaces rows as `LogStore.replace` says.
    public func replace(with rows: [LogRow]) throws(StoreError) { try trimmer.replace(with: rows) }

    /// Makes a reader, whose reads throw `io` while the log is not open.
    public func makeReader() throws(StoreError) -> any LogReader {
        PostgresLogReader(readers, timeouts) { [log] in log.withLock { $0.end == nil ? nil : $0.oldest } }
    }

    /// Makes a reader that reads the log whoever owns it.
    public func makeFollower() -> any LogReader { PostgresLogReader(readers, timeouts) { -1 } }

    /// Makes the reads under way fail, and closes their connections, which may be dead.
    public func interruptReads() { readers.interrupt() }

    /// Returns the bytes of the log on the server's disk, as they were some seconds ago.
    public func bytesOnDisk() -> Int { upkeep.bytesOnDisk() }

    /// Closes the log. The connections stay: after a later take the log is opened again.
    public func close() { log.withLock { $0.end = nil } }

    /// Closes the log and every connection, as the process ends.
    public func disconnect() {
        close()
        upkeep.stop()
        appender.link.close()
        trimmer.link.close()
        readers.close()
    }

    static var notOpen: StoreError { StoreError(.io, "the log is not open") }
    static var fenced: StoreError { StoreError(.fenced, "another session owns the log") }
}

/// The session under which a process appends: a new one after the last was ended. May be used on any thread.
final class SessionNumber: Sendable {
    private let number: Atomic<Int64>

    init(_ number: Int64) { self.number = Atomic(number) }

    /// The number of the current session.
    var value: Int64 { number.load(ordering: .acquiring) }

    /// Sets the session. Returns whether it differs from the one before.
    func begin(_ number: Int64) -> Bool { self.number.exchange(number, ordering: .acquiringAndReleasing) != number }
}
