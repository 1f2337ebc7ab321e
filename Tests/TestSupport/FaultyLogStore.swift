import Platform
import TimerLog

/// A log in memory that fails as it is told: for tests of what stands above a log.
///
/// As the store on disk, it takes nothing after an unknown outcome before it is opened anew, and rows of an unknown
/// outcome are seen by nobody before that.
final class FaultyLogStore: LogStore, @unchecked Sendable {  // unchecked: what changes is touched only under `lock`
    /// What becomes of one append.
    enum Outcome: Sendable {
        case durable
        /// Refused, nothing written.
        case absent
        /// Told as unknown; the next open finds the rows.
        case unknownButWritten
        /// Told as unknown; the next open does not find the rows.
        case unknownAndLost
        /// Another writer took over; nothing written.
        case fenced
    }

    private let lock = Lock()
    private let inner = MemoryLogStore()
    private var script: [Outcome] = []
    private var failingOpens = 0
    private var failingReads = 0
    private var rowsBeforeFailure = 0
    private var read = 0
    private var isInDoubt = false
    private var unseen: (rows: [LogRow], expecting: Int64, epoch: Int64)?
    private var appended = 0
    private var opened = 0

    static let failure = StoreError(.io, "a failure that was asked for")

    /// The outcomes of the next appends; durable when none is left.
    func plan(_ outcomes: Outcome...) {
        lock.withLock { script += outcomes }
    }

    /// The next `count` opens throw.
    func failOpens(_ count: Int) {
        lock.withLock { failingOpens = count }
    }

    /// The next `count` reads, by whatever reader, throw once they have handed out `rows` rows.
    func failReads(_ count: Int, after rows: Int = 0) {
        lock.withLock { (failingReads, rowsBeforeFailure) = (count, rows) }
    }

    /// How many appends were asked for, whatever became of them.
    var appendCount: Int { lock.withLock { appended } }
    /// How many rows readers handed out, but for single ones.
    var readCount: Int { lock.withLock { read } }
    /// How many opens were asked for, failed ones included.
    var openCount: Int { lock.withLock { opened } }

    func open() throws(StoreError) -> StoreHead {
        lock.lock()
        defer { lock.unlock() }
        opened += 1
        inner.close()
        if failingOpens > 0 {
            failingOpens -= 1
            throw Self.failure
        }
        let head = try inner.open()
        isInDoubt = false
        guard let rest = unseen else { return head }
        unseen = nil
        let outcome = inner.append(rest.rows, expecting: rest.expecting, epoch: rest.epoch)
        precondition(outcome == .durable, "rows were checked when they were appended")
        return try inner.open()
    }

    func append(_ rows: [LogRow], expecting: Int64, epoch: Int64) -> AppendOutcome {
        lock.lock()
        defer { lock.unlock() }
        appended += 1
        if isInDoubt { return .absent(StoreError(.io, "the log must be opened anew")) }
        // Nothing to write: only the check of head and epoch.
        let check = inner.append([], expecting: expecting, epoch: epoch)
        guard check == .durable else { return check }
        switch script.isEmpty ? .durable : script.removeFirst() {
        case .durable:
            return inner.append(rows, expecting: expecting, epoch: epoch)
        case .absent:
            return .absent(Self.failure)
        case .unknownButWritten:
            isInDoubt = true
            unseen = (rows, expecting, epoch)
            return .unknown(Self.failure)
        case .unknownAndLost:
            isInDoubt = true
            return .unknown(Self.failure)
        case .fenced:
            return .fenced
        }
    }

    func delete(upTo position: Int64) throws(StoreError) -> Int { try inner.delete(upTo: position) }

    func replace(with rows: [LogRow]) throws(StoreError) { try inner.replace(with: rows) }

    func makeReader() throws(StoreError) -> any LogReader { Reader(self, try inner.makeReader()) }

    func bytesOnDisk() -> Int { inner.bytesOnDisk() }

    func close() { inner.close() }

    /// After how many rows a read that begins now fails; nil when it does not.
    private func takeReadFailure() -> Int? {
        lock.withLock {
            defer { failingReads = max(0, failingReads - 1) }
            return failingReads > 0 ? rowsBeforeFailure : nil
        }
    }

    private final class Reader: LogReader {
        private let store: FaultyLogStore
        private let inner: any LogReader

        init(_ store: FaultyLogStore, _ inner: any LogReader) {
            self.store = store
            self.inner = inner
        }

        func read(from position: Int64, _ body: (LogRow) -> Bool) throws(StoreError) {
            var rest = store.takeReadFailure()
            if rest == 0 { throw FaultyLogStore.failure }
            try inner.read(from: position) { row in
                store.lock.withLock { store.read += 1 }
                rest? -= 1
                return body(row) && rest != 0
            }
            if rest == 0 { throw FaultyLogStore.failure }
        }

        func row(holding position: Int64) throws(StoreError) -> LogRow? {
            if store.takeReadFailure() != nil { throw FaultyLogStore.failure }
            return try inner.row(holding: position)
        }
    }
}
