import Platform
import TestSupport
import TimerLog

/// A log in memory that other processes may write too: its appends end as a test plans, and `settle` finds how
/// they ended.
final class ContestedLogStore: LogStore {
    enum Outcome: Sendable {
        case durable, absent, unknownButWritten, unknownAndLost, fenced
        /// The first row alone is written.
        case partlyWritten
        /// The newest row is removed from the log, and the append reports the loss.
        case lost
    }

    private struct State {
        var script: [Outcome] = []
        /// The number of further settlements that fail.
        var failingSettlements = 0
        var settled = 0
        var isShut = false
        var holdsSettlements = false
        var waiting = 0
        var reader: (@Sendable (MemoryLogStore) -> any LogReader)?
    }

    private let inner = MemoryLogStore()
    private let state = Guarded(State())

    var isShared: Bool { true }
    var secret: [UInt8]? { inner.secret }

    /// Plans the outcomes of the next appends; later ones are durable.
    func plan(_ outcomes: Outcome...) { state.withLock { $0.script += outcomes } }

    /// Makes the next `count` settlements fail.
    func failSettlements(_ count: Int) { state.withLock { $0.failingSettlements = count } }

    /// The number of settlements that were asked for, failed ones included.
    var settled: Int { state.withLock { $0.settled } }

    /// Holds every append, or releases them.
    func shut(_ isShut: Bool = true) { state.update { $0.isShut = isShut } }

    /// Holds every settlement, or releases them.
    func holdSettlements(_ holds: Bool = true) { state.update { $0.holdsSettlements = holds } }

    /// Makes `body` decide what readers read, and lets it change the log before.
    func onReading(_ body: @escaping @Sendable (MemoryLogStore) -> any LogReader) {
        state.withLock { $0.reader = body }
    }

    /// Begins an epoch, as a server does that takes the log: what the epoch before still asks for is fenced.
    func take() { _ = inner.beginEpoch(session: 0, after: 0) }

    /// Whether an append or a settlement waits.
    var isHolding: Bool { state.withLock { $0.waiting > 0 } }

    func open() throws(StoreError) -> StoreHead { try inner.open() }

    func append(_ rows: [LogRow], expecting: Int64, epoch: Int64) -> AppendOutcome {
        state.withLock { $0.waiting += 1 }
        state.wait { $0.isShut ? nil : () }
        let outcome: Outcome = state.withLock { state in
            state.waiting -= 1
            return state.script.isEmpty ? .durable : state.script.removeFirst()
        }
        switch outcome {
        case .durable: return inner.append(rows, expecting: expecting, epoch: epoch)
        case .absent: return .absent(StoreError(.unavailable, "not now"))
        case .unknownAndLost: return .unknown(FaultyLogStore.failure)
        case .fenced: return .fenced
        case .lost:
            inner.loseNewestRow()
            return .diverged(StoreError(.lost, "the newest row is gone"))
        case .partlyWritten:
            _ = inner.append(Array(rows.prefix(1)), expecting: expecting, epoch: epoch)
            return .unknown(FaultyLogStore.failure)
        case .unknownButWritten:
            _ = inner.append(rows, expecting: expecting, epoch: epoch)
            return .unknown(FaultyLogStore.failure)
        }
    }

    func settle(_ rows: [LogRow], expecting: Int64, epoch: Int64) -> Settlement {
        state.withLock { $0.waiting += 1 }
        state.wait { $0.holdsSettlements ? nil : () }
        state.withLock { $0.waiting -= 1 }
        let fails = state.withLock { state in
            state.settled += 1
            state.failingSettlements -= 1
            return state.failingSettlements >= 0
        }
        if fails { return .unknown(FaultyLogStore.failure) }
        do throws(StoreError) {
            var head = try inner.open()
            guard head.epoch == epoch else { return .fenced }
            let (hasLanded, isAbsent) = (head.last == rows.last?.last, head.last == expecting)
            let barrier = LogRow(
                first: head.last + 1, last: head.last + 1, previous: head.last, epoch: head.epoch,
                data: BatchRows.barrier())
            guard inner.append([barrier], expecting: head.last, epoch: head.epoch) == .durable else {
                return .unknown(FaultyLogStore.failure)
            }
            head.last = barrier.last
            guard hasLanded || isAbsent else { return .diverged(StoreError(.io, "the first rows alone are there")) }
            return hasLanded ? .landed(head) : .absent(head)
        } catch {
            return .unknown(error)
        }
    }

    func delete(upTo position: Int64) throws(StoreError) -> Int { try inner.delete(upTo: position) }

    func replace(with rows: [LogRow]) throws(StoreError) { try inner.replace(with: rows) }

    func makeReader() throws(StoreError) -> any LogReader {
        if let reader = state.withLock({ $0.reader }) { return reader(inner) }
        return try inner.makeReader()
    }

    func makeFollower() -> any LogReader { inner.makeFollower() }

    func bytesOnDisk() -> Int { inner.bytesOnDisk() }

    func close() { inner.close() }
}
