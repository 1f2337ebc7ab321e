import Platform
import TimerLog

/// The steps for a log that other processes may write: see `LogStore.isShared`.
extension ActiveLog {
    // Steps while the storage fails, on the committer's thread.

    /// Whether it is time to find out the fate of the log's rows whose append has an unknown outcome.
    func isToSettle(at now: Int64) -> Bool { isDueAgain(.settle, at: now) }

    /// Whether it is time to append the log's rows again.
    func isToAppend(at now: Int64) -> Bool { isDueAgain(.appendAgain, at: now) }

    private func isDueAgain(_ task: StorageRecovery.Task, at now: Int64) -> Bool {
        recovery.task == task && (!recovery.isPausing || now >= pausedUntil)
    }

    /// Finds out the fate of the rows that are not known to be on disk.
    func settle() -> Settlement { store.settle(tail.rows, expecting: tail.head, epoch: tail.epoch) }

    /// Applies the fate of the rows, as `settle` found it.
    func settled(_ settlement: Settlement, pause: Int64) {
        recovery.goOn()
        let rows = tail.rows
        switch settlement {
        case .landed(let head): _ = landed(seconds: nil, head: head)
        case .absent(let head): tail.relink(to: head)
        case .diverged(let error), .unknown(let error): report(.storageStillFailing(error))
        case .fenced: break
        }
        recovery.settled(settlement, rows)
        goOn(pause)
    }

    /// Applies the outcome of appending the rows again.
    ///
    /// - Returns: bytes of rows by which the log has grown.
    func appendedAgain(_ outcome: AppendOutcome, seconds: Double, pause: Int64) -> Int {
        recovery.goOn()
        let rows = tail.rows
        var bytes = 0
        switch outcome {
        case .durable: bytes = landed(seconds: seconds)
        case .absent(let error), .unknown(let error), .diverged(let error): report(.storageStillFailing(error))
        case .fenced: break
        }
        recovery.appendedToShared(outcome, rows)
        goOn(pause)
        return bytes
    }

    private func goOn(_ pause: Int64) {
        if recovery.isPausing { pausedUntil = Clocks.monotonic() + pause }
        if case .fold = recovery.task { forgetRows(head: tail.head) }
        if recovery.isWorking { workAgain() }
    }

    // Steps on the compactor's thread.

    /// Deletes and replaces what is asked for, beside appends. What can't be done now is asked for again by the
    /// next round.
    func trimShared() {
        while trim.hasWork, !hasEnded { carryOutTrim(onFailure: { report(.compactionFailed($0)) }) }
    }
}
