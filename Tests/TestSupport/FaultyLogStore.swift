import Platform
package import TimerLog

/// A log in memory that fails as a test plans it, for tests of the layers above a log.
///
/// Like the store on disk, it refuses appends after an unknown outcome until it is opened again, and no reader sees
/// rows of an unknown outcome before that.
package final class FaultyLogStore: LogStore {
    /// The outcome of one append.
    package enum Outcome: Sendable {
        case durable
        /// Refused, nothing written.
        case absent
        /// Reported as unknown; the next open finds the rows.
        case unknownButWritten
        /// Reported as unknown; the next open does not find the rows.
        case unknownAndLost
        /// Another writer took over; nothing written.
        case diverged
    }

    private struct State {
        var script: [Outcome] = []
        var failingOpens = 0
        var failingReads = 0
        var rowsBeforeFailure = 0
        var read: [String: Int] = [:]
        var isInDoubt = false
        var unseen: (rows: [LogRow], expecting: Int64, epoch: Int64)?
        var appended = 0
        var opened = 0
    }

    private let state = Guarded(State())
    private let inner: any LogStore

    package static let failure = StoreError(.io, "a failure that was asked for")

    /// Makes a log that fails in place of `inner`, which is a log in memory.
    package init(_ inner: any LogStore = MemoryLogStore()) { self.inner = inner }

    /// Plans the outcomes of the next appends; later ones are durable.
    package func plan(_ outcomes: Outcome...) { state.withLock { $0.script += outcomes } }

    /// Makes the next `count` opens throw.
    package func failOpens(_ count: Int) { state.withLock { $0.failingOpens = count } }

    /// Makes the next `count` reads, by whatever reader, throw once they have returned `rows` rows.
    package func failReads(_ count: Int, after rows: Int = 0) {
        state.withLock { ($0.failingReads, $0.rowsBeforeFailure) = (count, rows) }
    }

    /// The number of appends that were asked for, failed ones included.
    package var appendCount: Int { state.withLock { $0.appended } }
    /// The number of rows that readers returned, without rows read singly.
    package var readCount: Int { state.withLock { $0.read.values.reduce(0, +) } }
    /// Of those the number that was returned to the threads of that name, without rows read singly.
    package func readCount(by thread: String) -> Int { state.withLock { $0.read[thread, default: 0] } }
    /// The number of opens that were asked for, failed ones included.
    package var openCount: Int { state.withLock { $0.opened } }

    package func open() throws(StoreError) -> StoreHead {
        try state.withLock { (state: inout State) throws(StoreError) -> StoreHead in
            state.opened += 1
            inner.close()
            if state.failingOpens > 0 {
                state.failingOpens -= 1
                throw Self.failure
            }
            let head = try inner.open()
            state.isInDoubt = false
            guard let rest = state.unseen.take() else { return head }
            let outcome = inner.append(rest.rows, expecting: rest.expecting, epoch: rest.epoch)
            precondition(outcome == .durable, "rows were checked when they were appended")
            return try inner.open()
        }
    }

    package func append(_ rows: [LogRow], expecting: Int64, epoch: Int64) -> AppendOutcome {
        state.withLock { state in
            state.appended += 1
            if state.isInDoubt { return .absent(StoreError(.io, "the log must be opened again")) }
            // An append without rows only checks head and epoch.
            let check = inner.append([], expecting: expecting, epoch: epoch)
            guard check == .durable else { return check }
            switch state.script.isEmpty ? .durable : state.script.removeFirst() {
            case .durable:
                return inner.append(rows, expecting: expecting, epoch: epoch)
            case .absent:
                return .absent(Self.failure)
            case .unknownButWritten:
                state.isInDoubt = true
                state.unseen = (rows, expecting, epoch)
                return .unknown(Self.failure)
            case .unknownAndLost:
                state.isInDoubt = true
                return .unknown(Self.failure)
            case .diverged:
                return .diverged(Self.failure)
            }
        }
    }

    package func delete(upTo position: Int64) throws(StoreError) -> Int { try inner.delete(upTo: position) }

    package func replace(with rows: [LogRow]) throws(StoreError) { try inner.replace(with: rows) }

    package func makeReader() throws(StoreError) -> any LogReader { Reader(self, try inner.makeReader()) }

    package func bytesOnDisk() -> Int { inner.bytesOnDisk() }

    package func close() { inner.close() }

    /// Returns the number of rows after which a read that begins now fails; nil when it does not.
    private func takeReadFailure() -> Int? {
        state.withLock { state in
            defer { state.failingReads = max(0, state.failingReads - 1) }
            return state.failingReads > 0 ? state.rowsBeforeFailure : nil
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
            let thread = threadName
            if rest == 0 { throw FaultyLogStore.failure }
            try inner.read(from: position) { row in
                store.state.withLock { $0.read[thread, default: 0] += 1 }
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
