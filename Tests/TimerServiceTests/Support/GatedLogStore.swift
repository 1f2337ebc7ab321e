import Platform
import TestSupport
import TimerLog

/// A log whose appends, whose reads of several rows, and whose rows on their way to a follower wait at gates while those are
/// shut, and whose deletions and reads fail as a test plans.
final class GatedLogStore: LogStore {
    private struct State {
        /// The number of appends that may pass; nil for all.
        var passes: Int?
        /// The number of appends that wait at the gate.
        var waiting = 0
        /// Whether no read may pass, and the number of reads that wait.
        var readsAreShut = false
        var waitingReads = 0
        /// The number of times that reads were interrupted.
        var interruptions = 0
        /// The number of rows that may pass to followers; nil for all.
        var rowPasses: Int?
        var readsFail = false
        var reads = 0
        var failingDeletes = 0
        var isInDoubt = false
        var deleted = 0
    }

    private let state = Guarded(State())
    private let inner: any LogStore

    init(_ inner: any LogStore) { self.inner = inner }

    /// Holds every append.
    func shut() { state.withLock { $0.passes = 0 } }

    /// Releases one more append.
    func passOne() { state.update { $0.passes = ($0.passes ?? 0) + 1 } }

    /// Releases every append.
    func unshut() { state.update { $0.passes = nil } }

    /// Whether an append waits at the gate.
    var isHolding: Bool { state.withLock { $0.waiting > 0 } }

    /// Holds every read of several rows, or releases them.
    func shutReads(_ areShut: Bool = true) { state.update { $0.readsAreShut = areShut } }

    /// Whether a read waits at the gate.
    var isHoldingRead: Bool { state.withLock { $0.waitingReads > 0 } }

    /// Holds every row but the next `count` on its way to a follower; nil releases all.
    func passRows(_ count: Int?) { state.update { $0.rowPasses = count } }

    private func passRow() {
        state.wait { state -> Void? in
            if state.rowPasses == 0 { return nil }
            if let left = state.rowPasses { state.rowPasses = left - 1 }
            return ()
        }
    }

    /// Makes every further read of several rows fail.
    func failReads() { state.withLock { $0.readsFail = true } }

    /// The number of reads of several rows.
    var readCount: Int { state.withLock { $0.reads } }

    private func passRead() throws(StoreError) {
        let before = state.withLock { state in
            state.waitingReads += 1
            return state.interruptions
        }
        state.wait { $0.readsAreShut ? nil : () }
        let fails = state.withLock { state in
            state.waitingReads -= 1
            state.reads += 1
            return state.readsFail || state.interruptions > before
        }
        if fails { throw FaultyLogStore.failure }
    }

    /// Makes the next `count` deletions throw; after each the log must be opened again.
    func failDeletes(_ count: Int) { state.withLock { $0.failingDeletes = count } }

    /// The number of deletions that were asked for.
    var deleteCount: Int { state.withLock { $0.deleted } }

    var isShared: Bool { inner.isShared }

    var secret: [UInt8]? { inner.secret }

    func open() throws(StoreError) -> StoreHead {
        let head = try inner.open()
        state.withLock { $0.isInDoubt = false }
        return head
    }

    func append(_ rows: [LogRow], expecting: Int64, epoch: Int64) -> AppendOutcome {
        state.withLock { $0.waiting += 1 }
        let isTransient: Bool = state.wait { state in
            if state.passes == 0 { return nil }
            state.waiting -= 1
            if let left = state.passes { state.passes = left - 1 }
            return !state.isInDoubt
        }
        guard isTransient else { return .absent(StoreError(.io, "the log must be opened again")) }
        return inner.append(rows, expecting: expecting, epoch: epoch)
    }

    func delete(upTo position: Int64) throws(StoreError) -> Int {
        let fails = state.withLock { state in
            state.deleted += 1
            guard state.failingDeletes > 0 else { return false }
            state.failingDeletes -= 1
            state.isInDoubt = true
            return true
        }
        if fails { throw FaultyLogStore.failure }
        return try inner.delete(upTo: position)
    }

    func replace(with rows: [LogRow]) throws(StoreError) { try inner.replace(with: rows) }

    func makeReader() throws(StoreError) -> any LogReader { Reader(self, try inner.makeReader(), follows: false) }

    func makeFollower() throws(StoreError) -> any LogReader { Reader(self, try inner.makeFollower(), follows: true) }

    private final class Reader: LogReader {
        private let store: GatedLogStore
        private let inner: any LogReader
        private let follows: Bool

        init(_ store: GatedLogStore, _ inner: any LogReader, follows: Bool) {
            self.store = store
            self.inner = inner
            self.follows = follows
        }

        func read(from position: Int64, _ body: (LogRow) -> Bool) throws(StoreError) {
            try store.passRead()
            try inner.read(from: position) { row in
                if follows { store.passRow() }
                return body(row)
            }
        }

        func row(holding position: Int64) throws(StoreError) -> LogRow? { try inner.row(holding: position) }
    }

    /// Makes the reads that wait at the gate fail, and opens it.
    func interruptReads() {
        state.update { state in
            state.readsAreShut = false
            state.interruptions += 1
        }
    }

    func bytesOnDisk() -> Int { inner.bytesOnDisk() }

    func close() { inner.close() }
}
