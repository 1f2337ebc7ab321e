import Platform
import TestSupport
import TimerLog

/// A log whose appends wait at a gate while it is shut, and whose deletions fail as told.
final class GatedLogStore: LogStore, @unchecked Sendable {  // unchecked: what changes is touched only under `lock`
    private let lock = Lock()
    private let inner: any LogStore
    /// How many appends may pass; nil for all.
    private var passes: Int?
    private var waiting = 0
    private var failingDeletes = 0
    private var isInDoubt = false
    private var deleted = 0

    init(_ inner: any LogStore) { self.inner = inner }

    /// Lets no append pass.
    func shut() { lock.withLock { passes = 0 } }

    /// Lets one more append pass.
    func passOne() {
        lock.withLock {
            passes = (passes ?? 0) + 1
            lock.broadcast()
        }
    }

    /// Lets every append pass.
    func unshut() {
        lock.withLock {
            passes = nil
            lock.broadcast()
        }
    }

    /// Whether an append waits at the gate.
    var isHolding: Bool { lock.withLock { waiting > 0 } }

    /// The next `count` deletions throw; after each the log must be opened anew.
    func failDeletes(_ count: Int) { lock.withLock { failingDeletes = count } }

    /// How many deletions were asked for.
    var deleteCount: Int { lock.withLock { deleted } }

    func open() throws(StoreError) -> StoreHead {
        let head = try inner.open()
        lock.withLock { isInDoubt = false }
        return head
    }

    func append(_ rows: [LogRow], expecting: Int64, epoch: Int64) -> AppendOutcome {
        let mayPass = lock.withLock {
            waiting += 1
            while passes == 0 { lock.wait() }
            waiting -= 1
            if let left = passes { passes = left - 1 }
            return !isInDoubt
        }
        guard mayPass else { return .absent(StoreError(.io, "the log must be opened anew")) }
        return inner.append(rows, expecting: expecting, epoch: epoch)
    }

    func delete(upTo position: Int64) throws(StoreError) -> Int {
        let fails = lock.withLock {
            deleted += 1
            guard failingDeletes > 0 else { return false }
            failingDeletes -= 1
            isInDoubt = true
            return true
        }
        if fails { throw FaultyLogStore.failure }
        return try inner.delete(upTo: position)
    }

    func replace(with rows: [LogRow]) throws(StoreError) { try inner.replace(with: rows) }

    func makeReader() throws(StoreError) -> any LogReader { try inner.makeReader() }

    func bytesOnDisk() -> Int { inner.bytesOnDisk() }

    func close() { inner.close() }
}
