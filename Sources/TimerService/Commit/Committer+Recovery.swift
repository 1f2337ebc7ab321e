import Platform
import TimerCore
import TimerLog

/// What the committer does when an append failed, which is not a refusal: what the disk holds decides.
///
/// What was shown to nobody is given up: the log is folded anew. What was shown already is kept until the disk takes it.
extension Committer {
    /// Finds out what the disk holds, begins anew from there, and waits until it takes writes again.
    ///
    /// - Returns: false when the service stops meanwhile. Nothing may be appended then: what was recorded since rests
    ///   on rows that may be missing.
    func recover(_ outcome: AppendOutcome) -> Bool {
        engine.lock.withLock(.commit) { engine.storageFails = true }
        report(.appendFailed(outcome))
        if engine.showsEarly, let hasLanded = insist(outcome) {
            if hasLanded { workAgain() }
            return hasLanded
        }
        let rows = unsynced
        engine.lock.withLock(.commit) { forgetRows() }
        var isKnown = false
        if case .absent = outcome { isKnown = true } else { showDurablePart(rows) }
        while !refold(reopening: !isKnown, rows) {
            guard pauseUnlessStopping() else { return false }
        }
        hub.notify()
        while !probe() {
            guard pauseUnlessStopping() else { return false }
        }
        workAgain()
        return true
    }

    private func workAgain() {
        report(.storageRecovered)
        hub.notify()
        engine.alarm.ring()
    }

    /// Goes on trying to append what was shown already: it is lost only if the process ends before, or if others wrote.
    ///
    /// - Returns: whether it is on disk; false when the service stops before. Nil when the log is another one.
    private func insist(_ outcome: AppendOutcome) -> Bool? {
        let started = Clocks.monotonic()
        showRest()
        var isOpen = if case .absent = outcome { true } else { false }
        var isLast = false
        var attempt = attempt(&isOpen)
        while attempt == .failed && !isLast {
            // What waits for the disk is tried once more before a stop gives it up.
            isLast = !pauseUnlessStopping()
            attempt = self.attempt(&isOpen)
        }
        switch attempt {
        case .failed: return false
        case .foreign: return nil
        case .landed: break
        }
        landed(from: started, to: Clocks.monotonic())
        engine.lock.withLock(.commit) { engine.storageFails = false }
        return true
    }

    private enum Attempt { case landed, failed, foreign }

    /// Tries to append what is not on disk; opens the store before where it is not known what it holds.
    private func attempt(_ isOpen: inout Bool) -> Attempt {
        if !isOpen {
            do throws(StoreError) {
                let head = try store.open()
                guard head.epoch == epoch else { return .foreign }
                // The rows of one append are there together or not at all.
                if head.last == unsynced.last?.last ?? logHead { return .landed }
                guard head.last == logHead else { return .foreign }
            } catch {
                report(.storageStillFailing(error))
                return .failed
            }
        }
        let outcome = store.append(unsynced, expecting: logHead, epoch: epoch)
        isOpen = if case .absent = outcome { true } else { false }
        return outcome == .durable ? .landed : .failed
    }

    /// Takes what was recorded while the append was under way, and shows it: nothing more comes while storage fails.
    private func showRest() {
        var work = CommitWork()
        engine.lock.withLock(.commit) {
            guard engine.mayShowBatch, !engine.batch.isEmpty else { return }
            work.isShownEarly = true
            take(&work)
        }
        guard work.isShownEarly else { return }
        add(work.rows(after: unsynced.last?.last ?? logHead, epoch: epoch), nil)
        show()
    }

    /// Until it is known what became of `rows`, reads show what was surely on disk before them.
    private func showDurablePart(_ rows: [LogRow]) {
        var fold = emptyFold()
        do throws(StoreError) { try Self.fold(&fold, store, through: logHead) } catch {
            return report(.storageStillFailing(error))
        }
        var state = engine.state(of: fold)
        engine.lock.withLock(.restart) { engine.restart(&state, keeping: rows.last?.last ?? logHead) }
        hub.notify()
    }

    private func emptyFold() -> LogFold {
        LogFold(
            secret: secret, maximumTimers: engine.configuration.maximumTimers, zones: engine.configuration.zones,
            goingThrough: engine.lock.withLock(.commit) { deleteThrough })
    }

    private func pauseUnlessStopping() -> Bool {
        engine.lock.withLock(.commit) {
            // Every reader signals while the batch is not empty.
            engine.lock.wait(retryPause) { !stopping }
            return !stopping
        }
    }

    private func refold(reopening: Bool, _ rows: [LogRow]) -> Bool {
        do {
            if reopening {
                let head = try store.open()
                engine.lock.withLock(.commit) { epoch = head.epoch }
            }
            var fold = emptyFold()
            try Self.fold(&fold, store)
            let bytes = fold.bytes
            let hasLanded = try isInLog(rows.first)
            let kept = hasLanded ? rows.last?.last ?? logHead : logHead
            var state = engine.state(of: fold)
            // What landed after all is shown like any commit.
            if hasLanded { hub.publish(rows, durableThrough: kept) }
            // Rows of another writer are read from the store.
            hub.reset(head: state.head, keeping: kept)
            engine.lock.withLock(.restart) {
                logHead = state.head
                held = bytes
                engine.restart(&state, keeping: kept)
            }
            return true
        } catch {
            report(.storageStillFailing(error))
            return false
        }
    }

    /// Whether the log holds `row`; the rows of one append are there together or not at all.
    private func isInLog(_ row: LogRow?) throws(StoreError) -> Bool {
        guard let row else { return false }
        return try store.makeReader().row(holding: row.first) == row
    }

    /// Writes a record that says nothing new; when it lands, changes are taken again.
    private func probe() -> Bool {
        var mark: HighWaterMark?
        let rows = engine.lock.withLock(.commit) {
            let base = engine.timeBase()
            let head = engine.head
            mark = engine.recordProbe()
            // Nobody is to wait for this record: reads go on meanwhile.
            engine.head = head
            var records: [UInt8] = []
            swap(&records, &engine.batch)
            return BatchRows.make(
                records: records, first: engine.batchFirst, previous: logHead, epoch: epoch, base: base)
        }
        guard let last = rows.last?.last else { return false }
        switch store.append(rows, expecting: logHead, epoch: epoch) {
        case .durable:
            hub.publish(rows, durableThrough: last)
            engine.lock.withLock(.commit) {
                logHead = last
                held += RowBytes(rows)
                engine.head = last
                engine.setDurable(last)
                if let mark { engine.setDurable(mark) }
                engine.storageFails = false
            }
            return true
        case .absent:
            return false
        case .unknown, .fenced:
            // What the disk holds must be found out again before the next attempt.
            while !refold(reopening: true, rows) {
                guard pauseUnlessStopping() else { return false }
            }
            return false
        }
    }
}
