import Platform
import TimerCore
import TimerLog

/// The interface between an engine and the committer: a batch goes one way, its outcome the other.
extension Engine {
    /// The moment at which the committer is woken for what a turn has recorded.
    public enum Waking {
        /// The end of the turn.
        case atOnce
        /// The end of the turn if the records at hand answer a request, or are `bytesWithoutAnswer`; else the caller's
        /// `TimerService.commit`, so that a request of several turns needs few appends, mostly one.
        case forAnswers
        /// The caller's `TimerService.commit`.
        case byCaller
    }

    /// The bytes of records that answer no request yet for which the committer is woken: a long batch is appended while it is
    /// carried out.
    private static let bytesWithoutAnswer = 256 << 10

    /// Leaves the committer a note, and wakes it where the caller does not do so later.
    func callCommitter(_ waking: Waking) {
        if !isNoted {
            isNoted = true
            bell.note()
        }
        if isFull { bell.noteFull() }
        switch waking {
        case .atOnce: bell.ringWhenGathered()
        case .forAnswers: if batch.requests > 0 || waitingBytes >= Self.bytesWithoutAnswer { bell.ringWhenGathered() }
        case .byCaller: break
        }
    }

    /// Notes that the batch is to answer one more request.
    func noteRequest() {
        batch.requests += 1
        bell.gather(1)
    }

    /// Takes the batch at hand.
    ///
    /// - Parameter empty: an empty batch, whose memory the next records are written into.
    /// - Returns: the batch; it has no time base where there are no records.
    func ready(_ demand: CommitDemand, into empty: consuming ReadyBatch) -> ReadyBatch {
        lock.lock(.commit)
        defer { lock.unlock() }
        isNoted = false
        var ready = empty
        ready.isShownEarly = mayShowBatch
        ready.syncs = demand.isDue || !mayShowBatch || demand.isLast
        ready.mark = ready.syncs ? markDue(demand) : nil
        if !batch.isEmpty { move(into: &ready) }
        return ready
    }

    /// Takes what was recorded during an append that failed, if it may be shown nevertheless; else returns nil.
    func readyShownEarly() -> ReadyBatch? {
        lock.withLock(.commit) {
            guard mayShowBatch, !batch.isEmpty else { return nil }
            var ready = ReadyBatch()
            ready.isShownEarly = true
            move(into: &ready)
            return ready
        }
    }

    /// Makes the batch by which storage is tried while it fails. No answer waits for its record, so reads go on
    /// meanwhile.
    func readyProbe() -> ReadyBatch {
        lock.withLock(.commit) {
            var ready = ReadyBatch()
            let head = batch.head
            ready.mark = recordProbe()
            move(into: &ready)
            ready.isTickOnly = false
            batch.head = head
            return ready
        }
    }

    /// Applies the outcome of a batch.
    func advance(_ outcome: CommitOutcome) {
        switch outcome {
        case .shown(let position): fates.setShown(position)
        case .durable(let position, let mark, let seconds, let records):
            lock.withLock(.commit) {
                if let mark { setDurable(mark) }
                guard let seconds else { return }
                counters.commitSeconds.observe(seconds)
                counters.commitRecords.observe(Double(records))
            }
            fates.setDurable(position)
        case .failed: lock.withLock(.commit) { storageFails = true }
        case .recovered:
            lock.withLock(.commit) {
                // The record by which storage was tried is durable now.
                batch.head = max(batch.head, fates.durableHead)
                storageFails = false
                // Records from before the failure may wait in the batch. The committer took the note of them then, so
                // they are noted again.
                isNoted = false
                afterChanges(instant())
            }
            callFireLoop()
        }
    }

    /// Refuses further changes for good, and drops those that the committer has not taken. Called when the log is
    /// another process's, or when its storage is not tried any more.
    func abandon() {
        lock.withLock {
            isStopping = true
            access.ring.publish(nil)
            fates.abandon()
            unknownPositions.note(after: shownHead, through: batch.givenOut)
            bell.took(batch.requests)
            batch.clear()
        }
    }

    /// Removes the requests of the batch from the committer's count. Called once this process has dropped the log.
    func leave() {
        lock.withLock {
            bell.took(batch.requests)
            batch.requests = 0
        }
    }

    /// The position that the next record gets at the earliest.
    var nextPosition: Int64 { lock.withLock(.commit) { batch.next } }

    /// Gives back the memory of empty buffers.
    func shrink() { lock.withLock(.commit) { batch.shrink() } }

    /// Whether records wait for the committer, or, at the end of the service (`isLast`), a mark has to be written.
    func hasBatch(isLast: Bool) -> Bool {
        lock.withLock(.commit) { !batch.isEmpty || isLast && showsEarly && isMarkAhead && !storageFails }
    }

    private func move(into ready: inout ReadyBatch) {
        // Read before the batch is taken, as this reading follows a step of the calendar.
        let base = timeBase()
        lastBase = base.now.elapsed
        ready.base = base
        batch.move(into: &ready)
    }

    /// Writes the mark that has to be in this batch, and returns it; nil where none is due.
    private func markDue(_ demand: CommitDemand) -> HighWaterMark? {
        let isLast = demand.isLast && showsEarly
        guard !batch.isEmpty || demand.hasRows || isLast && isMarkAhead else { return nil }
        guard isLast || needsMark || showsEarly && isMarkLow, !storageFails else { return nil }
        return recordMark(isExact: isLast || !showsEarly)
    }
}
