import Platform
import Synchronization
import TimerCore
import TimerLog

/// Folds logs anew beside the committer, which serves other partitions meanwhile. One thread for each fold.
///
/// Until a fold has ended, its partition's tail is left alone, and its engine takes no changes.
final class RefoldWorker: Sendable {
    /// What a fold found.
    struct Refolded: Sendable {
        var epoch: Int64
        /// Position of the last row.
        var head: Int64
    }

    private struct Job: Sendable {
        /// The thread that folds; nil where the fold runs at once.
        var thread: Thread?
        var result: Result<Refolded, StoreError>?
    }

    private let jobs = Guarded<[Int: Job]>([:])
    private let bell: CommitBell
    private let runsAtOnce: Bool

    /// - Parameters:
    ///   - bell: rung when a fold has ended.
    ///   - runsAtOnce: folds run on the committer's thread, for tests that have but one.
    init(_ bell: CommitBell, runsAtOnce: Bool = false) {
        self.bell = bell
        self.runsAtOnce = runsAtOnce
    }

    /// The result of a fold of the partition's log, which is begun where none is under way; nil while it is.
    func result(
        of partition: Partition, _ request: StorageRecovery.FoldRequest
    ) -> Result<Refolded, StoreError>? {
        if !isRunning(partition) { begin(partition, request) }
        guard let job = jobs.withLock({ $0[partition.number] }), let result = job.result else { return nil }
        wait(for: partition)
        jobs.withLock { $0[partition.number] = nil }
        return result
    }

    /// Whether a fold of the partition's log was begun, and its result not taken yet.
    func isRunning(_ partition: Partition) -> Bool { jobs.withLock { $0[partition.number] != nil } }

    /// Waits until the fold of the partition's log has ended, if there is one.
    func wait(for partition: Partition) {
        jobs.withLock { jobs in
            defer { jobs[partition.number]?.thread = nil }
            return jobs[partition.number]?.thread
        }?.join()
    }

    private func begin(_ partition: Partition, _ request: StorageRecovery.FoldRequest) {
        let number = partition.number
        let (head, epoch) = (partition.tail.head, partition.tail.epoch)
        jobs.withLock { $0[number] = Job() }
        let fold: @Sendable () -> Void = { [self] in
            let result = Result { () throws(StoreError) in
                try partition.refold(request, head: head, epoch: epoch)
            }
            jobs.withLock { $0[number]?.result = result }
            bell.list(number)
            bell.ring()
        }
        if runsAtOnce { return fold() }
        jobs.withLock { $0[number]?.thread = Thread(name: "refold", fold) }
    }
}

extension Partition {
    /// Finds out what the disk holds and begins anew from there. Not under the engine's lock.
    ///
    /// - Parameters:
    ///   - head: where the log ended before the rows of which it is to be found out whether they are on disk.
    ///   - epoch: of the writer up to now.
    fileprivate func refold(
        _ request: StorageRecovery.FoldRequest, head: Int64, epoch: Int64
    ) throws(StoreError) -> RefoldWorker.Refolded {
        if request.showsDurablePart { showDurablePart(before: request.rows, head: head) }
        let begun = Clocks.monotonic()
        let epoch = request.isReopening ? try store.open().epoch : epoch
        var fold = emptyFold()
        try store.fold(into: &fold)
        let (bytes, written) = (fold.bytes, fold.lastWritten)
        let hasLanded = try isInLog(request.rows.first)
        var state = engine.state(of: fold)
        let newHead = state.head
        // A log that has lost rows ends before it did, but for what its opening has put there.
        let end = request.followsLoss ? written : newHead
        let kept = hasLanded ? request.rows.last?.last ?? head : min(head, end)
        // What landed after all is shown like any commit.
        if hasLanded { hub.publish(request.rows, durableThrough: kept) }
        // Rows of another writer are read from the store.
        hub.reset(head: newHead, keeping: kept)
        trim.reset(held: bytes)
        engine.restart(&state, keeping: kept, isLoss: request.followsLoss)
        report(.readAnew(seconds: Double(Clocks.monotonic() - begun) / 1e9))
        if request.followsLoss {
            // What was accepted before this loss was another one.
            acceptsLoss.store(engine.configuration.acceptsLosses, ordering: .releasing)
            losses.add(1, ordering: .relaxed)
            report(.rowsLost(partition: number, after: written, through: head))
        }
        return RefoldWorker.Refolded(epoch: epoch, head: newHead)
    }

    /// Until it is known what became of `rows`, reads show what was surely on disk before them.
    private func showDurablePart(before rows: [LogRow], head: Int64) {
        var fold = emptyFold()
        do throws(StoreError) { try store.fold(into: &fold, through: head) } catch {
            return report(.storageStillFailing(error))
        }
        var state = engine.state(of: fold)
        engine.restart(&state, keeping: rows.last?.last ?? head)
        hub.notify()
    }

    private func emptyFold() -> LogFold {
        LogFold(
            secret: secret, hashPrefix: hashPrefix, maximumTimers: engine.configuration.maximumTimers,
            zones: engine.configuration.zones, goingThrough: trim.deleteThrough)
    }

    /// Whether the log holds `row`; the rows of one append are there together or not at all.
    private func isInLog(_ row: LogRow?) throws(StoreError) -> Bool {
        guard let row else { return false }
        return try store.makeReader().row(holding: row.first) == row
    }
}
