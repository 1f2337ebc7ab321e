import Platform
import Synchronization
import TimerLog

/// The steps of the committer for the log. All of them run on the thread that works as the committer: see
/// `Committer.lead`.
extension ActiveLog {
    /// Whether there is something to do at the monotonic instant `now`, the records that wait in the engine aside.
    func isDue(at now: Int64, isStopping: Bool) -> Bool {
        if isHeld { return false }
        if !recovery.isWorking { return !recovery.isPausing || now >= pausedUntil || isStopping }
        return isSyncDue(at: now, isStopping: isStopping) || hasTrimming
    }

    /// The next monotonic instant at which there is something to do, whatever comes; nil when there is none.
    var dueAt: Int64? {
        if !recovery.isWorking { return refold != nil || isHeld ? nil : recovery.isPausing ? pausedUntil : 0 }
        if hasTrimming { return 0 }
        return tail.rows.isEmpty ? nil : isHurried.load(ordering: .acquiring) ? 0 : tail.syncBy
    }

    /// Whether nothing changes before an operator accepts that the log has lost rows.
    var isHeld: Bool { recovery.task == .hold && losses.held != nil }

    /// Whether the committer is to trim the log.
    private var hasTrimming: Bool { !isShared && trim.hasWork }

    private func isSyncDue(at now: Int64, isStopping: Bool) -> Bool {
        !tail.rows.isEmpty && (isStopping || tail.isDue(at: now) || isHurried.load(ordering: .acquiring))
    }

    /// Takes the engine's batch and makes its rows, which are shown at once where they may be.
    ///
    /// - Parameter spare: an empty batch; the buffers of the one that was taken come back in it.
    /// - Returns: whether the rows of the tail are to be appended now; and how many requests the batch answers.
    func ready(at now: Int64, isStopping: Bool, spare: inout ReadyBatch) -> (syncs: Bool, requests: Int) {
        guard recovery.isWorking else { return (false, 0) }
        var demand = CommitDemand(hasRows: !tail.rows.isEmpty, isLast: isStopping)
        demand.isDue = isSyncDue(at: now, isStopping: isStopping)
        var empty = ReadyBatch()
        swap(&empty, &spare)
        let batch = engine.ready(demand, into: empty)
        let (requests, syncs) = (batch.requests, batch.syncs)
        take(batch, at: now)
        spare = batch.emptied()
        return (syncs && !tail.rows.isEmpty, requests)
    }

    /// Appends the rows that are not on disk.
    func append() -> AppendOutcome { store.append(tail.rows, expecting: tail.head, epoch: tail.epoch) }

    private func take(_ batch: borrowing ReadyBatch, at now: Int64) {
        var deadline = Int64.max
        if case .interval(let nanoseconds) = engine.configuration.durability {
            let (end, overflow) = now.addingReportingOverflow(nanoseconds)
            if !overflow { deadline = end }
        }
        tail.add(batch.rows(after: tail.last, epoch: tail.epoch), mark: batch.mark, deadline: deadline)
        if batch.isShownEarly { show() }
    }

    /// Shows the rows that were not shown yet.
    func show() {
        let rows = tail.takeUnshown()
        guard let last = rows.last?.last else { return }
        hub.publish(rows, durableThrough: tail.head)
        engine.advance(.shown(through: last))
        hub.notify()
    }

    /// Applies the outcome of the append of the rows.
    ///
    /// - Returns: bytes of rows by which the log has grown.
    func advance(_ outcome: AppendOutcome, seconds: Double) -> Int {
        guard outcome == .durable else {
            fail(outcome)
            return 0
        }
        return landed(seconds: seconds)
    }

    /// Notes that the rows are on disk, and shows what was not shown before.
    ///
    /// - Parameter head: the end of the log, if that is not the end of the rows.
    func landed(seconds: Double?, head: StoreHead? = nil) -> Int {
        let (last, bytes) = (tail.last, tail.byteCount)
        hub.publish(tail.takeUnshown(), durableThrough: last)
        trim.grow(tail.rows)
        let (mark, records) = (tail.mark, tail.records)
        forgetRows(head: head?.last ?? last)
        if let head { tail.epoch = head.epoch }
        engine.advance(.durable(through: last, mark: mark, seconds: seconds, records: records))
        hub.notify()
        return bytes
    }

    /// Notes that the log ends at `head`, without the rows, which are on disk or dropped.
    func forgetRows(head: Int64) {
        tail.clear(head: head)
        isHurried.store(false, ordering: .releasing)
    }

    /// Deletes a bounded number of rows, and replaces rows by others.
    func trimLog() {
        guard recovery.isWorking, hasTrimming else { return }
        // A log whose deletion failed may have to recover before rows are replaced.
        carryOutTrim(mayReplace: { recovery.isWorking }, onFailure: { reopen(after: $0) })
    }

    /// Takes the work of `trim` and does it.
    ///
    /// - Parameters:
    ///   - mayReplace: whether rows are replaced, asked after the deletion.
    ///   - onFailure: called with each error.
    func carryOutTrim(mayReplace: () -> Bool = { true }, onFailure: (StoreError) -> Void) {
        let work = trim.take()
        if let position = work.deletion {
            do throws(StoreError) {
                trim.deleted(through: position, isOver: try store.delete(upTo: position) == 0)
            } catch {
                trim.deleted(through: position, isOver: nil)
                onFailure(error)
            }
        }
        guard !work.replacements.isEmpty else { return }
        // Rows that could not be replaced stay as they are, which only makes the log larger.
        var replaced: [RowReplacement] = []
        if mayReplace() {
            do throws(StoreError) {
                try store.replace(with: work.replacements.map(\.row))
                replaced = work.replacements
            } catch {
                onFailure(error)
            }
        }
        trim.replaced(replaced)
    }

    /// Opens the store again, as it requires after a failed deletion or replacement.
    private func reopen(after error: StoreError) {
        report(.storageStillFailing(error))
        do throws(StoreError) {
            let head = try store.open()
            if head.last == tail.head && head.epoch == tail.epoch { return }
        } catch {
            report(.storageStillFailing(error))
        }
        report(.appendFailed(.unknown(error)))
        fail(.unknown(error))
    }
}
