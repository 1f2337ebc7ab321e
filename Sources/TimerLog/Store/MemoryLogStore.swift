internal import Platform
import Primitives

/// The log in memory: for tests, and for a server whose timers may be lost when it ends. `open` of the same object
/// finds what was appended.
public final class MemoryLogStore: LogStore {
    private let log: MemoryLog
    /// The session of the node that uses the store.
    private let session: Int64
    private let isOpen: Guarded<Bool>

    /// Makes an empty, closed store with a secret of its own.
    public convenience init() { self.init(MemoryLog(secret: LogSecret.fresh()), session: 0) }

    private init(_ log: MemoryLog, session: Int64) {
        self.log = log
        self.session = session
        isOpen = Guarded(false)
    }

    /// Makes a closed store of the same log for the node of `session`, which may append once a `MemoryDirectory` of
    /// this log has given it the log.
    public func seen(by session: Int64) -> MemoryLogStore { MemoryLogStore(log, session: session) }

    /// The log's secret.
    public var secret: [UInt8]? { log.state.withLock { $0.head.secret } }

    /// The session that may append, and its epoch.
    package var owner: LogOwner { log.state.withLock { LogOwner(epoch: $0.head.epoch, session: $0.session) } }

    /// Position of the newest record.
    package var end: Int64 { log.state.withLock { $0.head.last } }

    /// Counts the rows after a position, up to `UnreadRows.most`.
    package func unread(after position: Int64) -> UnreadRows {
        log.state.withLock { state in
            let first = (state.rows.lastIndex { $0.last <= position } ?? -1) + 1
            let rows = state.rows[first...].prefix(UnreadRows.most)
            return UnreadRows(count: rows.count, bytes: rows.reduce(0) { $0 + $1.data.count })
        }
    }

    /// Begins an epoch in which `session` alone may append. The log goes on after `position`.
    package func beginEpoch(session: Int64, after position: Int64) -> Barrier {
        log.state.withLock { $0.beginEpoch(session, after: position) }
    }

    /// Loses the newest row, as a fail-over to a standby that was late would.
    package func loseNewestRow() {
        log.state.withLock { state in
            guard state.rows.popLast() != nil else { return }
            state.head.last = state.rows.last?.last ?? 0
        }
    }

    /// Opens the log; throws `fenced` where another session owns it.
    public func open() throws(StoreError) -> StoreHead {
        let head = try log.state.withLock { state throws(StoreError) in
            guard state.session == session else { throw StoreError(.fenced, "another node owns the log") }
            return state.head
        }
        isOpen.withLock { $0 = true }
        return head
    }

    /// Appends `rows`. The outcome is never `unknown`.
    public func append(_ rows: [LogRow], expecting: Int64, epoch: Int64) -> AppendOutcome {
        guard isOpen.withLock({ $0 }) else { return .absent(Self.notOpen) }
        return log.state.withLock { state in
            guard state.session == session else { return .fenced }
            let refusal = AppendRules.refusal(rows, expecting: expecting, epoch: epoch, head: state.head)
            if let refusal { return refusal }
            state.rows += rows
            state.head.last = rows.last?.last ?? state.head.last
            return .durable
        }
    }

    /// Removes rows as `LogStore.delete` says; the newest row always stays.
    public func delete(upTo position: Int64) throws(StoreError) -> Int {
        try owned { state throws(StoreError) in
            var bytes = 0
            var count = 0
            while count + 1 < state.rows.count, state.rows[count].last <= position {
                let size = state.rows[count].data.count
                guard count == 0 || bytes + size <= StoreLimits.bytesADelete else { break }
                bytes += size
                count += 1
            }
            state.rows.removeFirst(count)
            return bytes
        }
    }

    /// Replaces rows as `LogStore.replace` says.
    public func replace(with replacements: [LogRow]) throws(StoreError) {
        try owned { state throws(StoreError) in
            for row in replacements {
                guard let start = state.rows.firstIndex(where: { $0.first == row.first }),
                    let end = state.rows[start...].firstIndex(where: { $0.last == row.last }),
                    end < state.rows.count - 1
                else { throw StoreError(.damaged, "the rows at positions \(row.first)…\(row.last) are not there") }
                state.rows.replaceSubrange(start...end, with: [row])
            }
        }
    }

    /// Makes a reader.
    public func makeReader() throws(StoreError) -> any LogReader { Reader(self, onlyOpen: true) }

    /// Makes a reader that reads the log whoever owns it.
    public func makeFollower() -> any LogReader { Reader(self, onlyOpen: false) }

    /// Runs `body` with the log's state if the store is open and its session owns the log; else throws `io` or
    /// `fenced`.
    private func owned<Result>(
        _ body: (inout MemoryLog.State) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        guard isOpen.withLock({ $0 }) else { throw Self.notOpen }
        return try log.state.withLock { state throws(StoreError) in
            guard state.session == session else { throw StoreError(.fenced, "another node owns the log") }
            return try body(&state)
        }
    }

    /// Returns the bytes of row data, which a device would hold at least.
    public func bytesOnDisk() -> Int {
        log.state.withLock { $0.rows.reduce(0) { $0 + $1.data.count } }
    }

    /// Closes the log; `open` finds everything again.
    public func close() {
        isOpen.withLock { $0 = false }
    }

    /// Returns a bounded number of rows from the one that holds `position`, or the first after it.
    ///
    /// - Parameter onlyOpen: whether a log that is not open is an error.
    fileprivate func fetch(from position: Int64, onlyOpen: Bool) throws(StoreError) -> [LogRow] {
        guard !onlyOpen || isOpen.withLock({ $0 }) else { throw Self.notOpen }
        return log.state.withLock { state in
            let before = state.rows.countPrefix { $0.last < position }
            return Array(state.rows.dropFirst(before).prefix(StoreLimits.rowsARead))
        }
    }

    private static var notOpen: StoreError { StoreError(.io, "the log is not open") }

    private final class Reader: LogReader {
        private let store: MemoryLogStore
        private let onlyOpen: Bool

        init(_ store: MemoryLogStore, onlyOpen: Bool) {
            self.store = store
            self.onlyOpen = onlyOpen
        }

        func read(from position: Int64, _ body: (LogRow) -> Bool) throws(StoreError) {
            var next = position
            while true {
                let batch = try store.fetch(from: next, onlyOpen: onlyOpen)
                for row in batch {
                    guard body(row), row.last < .max else { return }
                    next = row.last + 1
                }
                if batch.isEmpty { return }
            }
        }

        func row(holding position: Int64) throws(StoreError) -> LogRow? {
            try store.fetch(from: position, onlyOpen: onlyOpen).first { $0.first <= position }
        }
    }
}

/// The rows of a log in memory. Several stores may share it, as several nodes share a database.
final class MemoryLog: Sendable {
    struct State {
        var rows: [LogRow] = []
        var head: StoreHead
        /// The session that may append; 0 where there is no directory.
        var session: Int64 = 0

        /// Begins an epoch of `session` with a row of its own after the log's end and `position`.
        mutating func beginEpoch(_ session: Int64, after position: Int64) -> Barrier {
            let first = max(head.last, position) + 1
            self.session = session
            head.epoch += 1
            let row = LogRow(
                first: first, last: first, previous: head.last, epoch: head.epoch, data: BatchRows.barrier())
            rows.append(row)
            head.last = first
            return Barrier(epoch: row.epoch, previous: row.previous, position: first)
        }
    }

    let state: Guarded<State>

    init(secret: [UInt8]) { state = Guarded(State(head: StoreHead(epoch: 0, last: 0, secret: secret))) }
}
