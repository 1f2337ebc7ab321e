import Platform
import Synchronization
import TimerCore
import TimerLog

/// The steps of the committer while the storage fails: see `StorageRecovery`. All but the fold run on the
/// committer's thread.
///
/// Rows that were shown to nobody are dropped, and the log is folded again. Rows that were shown already are kept
/// until the disk takes them.
extension ActiveLog {
    /// Begins to recover: no changes are taken meanwhile.
    func fail(_ outcome: AppendOutcome) {
        engine.advance(.failed)
        if isShared { return recovery.sharedAppendFailed(outcome, tail.rows) }
        let wereShown = engine.showsEarly
        if wereShown { showRest() }
        recovery.appendFailed(outcome, tail.rows, wereShown: wereShown)
        if !wereShown { forgetRows(head: tail.head) }
    }

    /// Takes no changes before an operator accepts that the log has lost rows. Called before anything of the log is shown,
    /// and before the committer knows of it.
    func hold() {
        engine.advance(.failed)
        recovery.foundLoss()
    }

    /// Takes what was recorded while the append was under way, and shows it: nothing more comes while storage fails.
    private func showRest() {
        guard let batch = engine.readyShownEarly() else { return }
        took(batch.requests)
        tail.add(batch.rows(after: tail.last, epoch: tail.epoch), mark: nil, deadline: .max)
        show()
    }

    /// Takes the next step of the recovery, unless a pause is still to pass.
    ///
    /// - Parameters:
    ///   - pause: nanoseconds between two attempts.
    ///   - foldsAtOnce: whether the log is folded on the committer's thread, for tests that have but one.
    func recover(at now: Int64, pause: Int64, foldsAtOnce: Bool) {
        if recovery.isPausing && now < pausedUntil { return }
        recovery.goOn()
        switch recovery.task {
        case .none: return
        case .append(let isReopening): retryShown(reopening: isReopening, since: now)
        case .fold(let request):
            let fold = refold ?? Refold(self, request, isAtOnce: foldsAtOnce)
            refold = fold
            guard let result = fold.result else { return }
            fold.wait()
            refold = nil
            finishFold(result)
        case .probe: probe()
        case .hold: if losses.held == nil { recovery.acceptLoss() }
        case .settle, .appendAgain: return
        }
        if recovery.isPausing { pausedUntil = Clocks.monotonic() + pause }
        if recovery.isWorking { workAgain() }
    }

    func workAgain() {
        engine.advance(.recovered)
        report(.storageRecovered)
        hub.notify()
    }

    /// Tries to append the rows that are not on disk; opens the store before where it is not known what it holds.
    private func retryShown(reopening: Bool, since started: Int64) {
        let attempt = attempt(reopening: reopening)
        let rows = tail.rows
        switch attempt {
        case .landed: _ = landed(seconds: Double(Clocks.monotonic() - started) / 1e9)
        case .foreign: forgetRows(head: tail.head)
        case .failed: break
        }
        recovery.appendedAgain(attempt, rows)
    }

    private func attempt(reopening: Bool) -> StorageRecovery.Attempt {
        if reopening {
            do throws(StoreError) {
                let head = try store.open()
                guard head.epoch == tail.epoch else { return .foreign }
                // The rows of one append are there together or not at all.
                if head.last == tail.last { return .landed }
                guard head.last == tail.head else { return .foreign }
            } catch {
                report(.storageStillFailing(error))
                return .failed(isOpen: false)
            }
        }
        switch append() {
        case .durable: return .landed
        case .absent: return .failed(isOpen: true)
        case .unknown, .diverged, .fenced: return .failed(isOpen: false)
        }
    }

    private func finishFold(_ result: Result<Refold.Found, StoreError>) {
        switch result {
        case .success(let found):
            tail.epoch = found.epoch
            tail.clear(head: found.head)
            hub.notify()
            recovery.folded(true)
        case .failure(let error):
            isFenced = error.kind == .fenced
            report(.storageStillFailing(error))
            recovery.folded(false)
        }
    }

    /// Writes a record that says nothing new; once it is on disk, changes are taken again.
    private func probe() {
        let batch = engine.readyProbe()
        let rows = batch.rows(after: tail.head, epoch: tail.epoch)
        guard let last = rows.last?.last else { return }
        let outcome = store.append(rows, expecting: tail.head, epoch: tail.epoch)
        if outcome == .durable {
            hub.publish(rows, durableThrough: last)
            trim.grow(rows)
            tail.clear(head: last)
            engine.advance(.durable(through: last, mark: batch.mark, seconds: nil, records: Int64(rows.count)))
        }
        isFenced = isShared && outcome == .fenced
        switch outcome {
        case .absent(let error), .unknown(let error), .diverged(let error): report(.storageStillFailing(error))
        case .durable, .fenced: break
        }
        recovery.probed(outcome, rows)
        // An acceptance that follows the report finds a log that goes on after what was lost.
        if recovery.task == .hold, let loss = losses.newest {
            report(.rowsLost(loss, isOwner: true, isAccepted: losses.held == nil))
        }
    }
}
