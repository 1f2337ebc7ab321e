import Platform
import TestSupport
import TimerLog

/// A volume in memory that other processes may write too: its appends end as told, and `settle` tells what became of them.
final class ContestedVolume: LogVolume {
    enum Outcome: Sendable {
        case durable, absent, unknownButWritten, unknownAndLost, fenced
        /// The newest row is gone.
        case lost
    }

    private struct State {
        var script: [Int: [Outcome]] = [:]
        /// How many times `settle` fails.
        var failingSettlements = 0
        var settled = 0
        var isShut = false
        var waiting = 0
    }

    private let inner: MemoryLogVolume
    private let state = Guarded(State())

    init(_ layout: PartitionLayout) { inner = MemoryLogVolume(layout) }

    var layout: PartitionLayout { inner.layout }
    var isShared: Bool { true }
    var secret: [UInt8]? { inner.secret }

    /// Has the next appends of a partition end so.
    func plan(_ partition: Int, _ outcomes: Outcome...) {
        state.withLock { $0.script[partition, default: []] += outcomes }
    }

    /// Has the next `count` settlements fail.
    func failSettlements(_ count: Int) { state.withLock { $0.failingSettlements = count } }

    /// How many appends were settled.
    var settled: Int { state.withLock { $0.settled } }

    /// Lets no append pass, or every one.
    func shut(_ isShut: Bool = true) { state.update { $0.isShut = isShut } }

    /// Whether an append waits.
    var isHolding: Bool { state.withLock { $0.waiting > 0 } }

    func store(_ partition: Int) -> any LogStore { inner.store(partition) }

    func append(_ appends: [PartitionAppend]) -> [AppendOutcome] {
        state.withLock { $0.waiting += 1 }
        state.wait { $0.isShut ? nil : () }
        state.withLock { $0.waiting -= 1 }
        return appends.map { append in
            let outcome: Outcome = state.withLock { state in
                guard let next = state.script[append.partition]?.first else { return .durable }
                state.script[append.partition]?.removeFirst()
                return next
            }
            switch outcome {
            case .durable: return inner.append([append])[0]
            case .absent: return .absent(StoreError(.unavailable, "not now"))
            case .unknownAndLost: return .unknown(FaultyLogStore.failure)
            case .fenced: return .fenced
            case .lost:
                inner.loseNewestRow(of: append.partition)
                return .diverged(StoreError(.lost, "the newest row is gone"))
            case .unknownButWritten:
                _ = inner.append([append])
                return .unknown(FaultyLogStore.failure)
            }
        }
    }

    func settle(_ appends: [PartitionAppend]) -> [Settlement] {
        appends.map { append in
            let fails = state.withLock { state in
                state.settled += 1
                state.failingSettlements -= 1
                return state.failingSettlements >= 0
            }
            if fails { return .unknown(FaultyLogStore.failure) }
            do throws(StoreError) {
                let store = inner.store(append.partition)
                var head = try store.open()
                let hasLanded = head.last == append.rows.last?.last
                let barrier = LogRow(
                    first: head.last + layout.stride, last: head.last + layout.stride, previous: head.last,
                    partition: Int32(append.partition), stride: layout.stride, epoch: head.epoch,
                    data: BatchRows.barrier())
                guard store.append([barrier], expecting: head.last, epoch: head.epoch) == .durable else {
                    return .unknown(FaultyLogStore.failure)
                }
                head.last = barrier.last
                return hasLanded ? .landed(head) : .absent(head)
            } catch {
                return .unknown(error)
            }
        }
    }

    func bytesOnDisk() -> Int { inner.bytesOnDisk() }

    func close() { inner.close() }
}
