import TimerCore

/// What an engine holds of what the process may: see `SharedBounds`. Called under the lock.
extension Engine {
    /// Bytes of records that wait for the disk.
    var waitingBytes: Int { batch.byteCount }

    /// Whether more records wait for the disk, of all partitions, than may.
    var isFull: Bool {
        let elsewhere = bounds.isShared ? bounds.waitingElsewhere(than: share) : 0
        if lease != nil && waitingBytes > EngineConfiguration.maximumSharedBatchBytes { return true }
        return waitingBytes + elsewhere > EngineConfiguration.maximumBatchBytes
    }

    /// Notes what the engine holds now.
    func noteShare() {
        guard bounds.isShared, !hasLeft else { return }
        let now = SharedBounds.Share(
            waitingBytes: waitingBytes, timers: scheduler.count, keys: idempotency.count,
            answerBytes: idempotency.answerBytes, pending: scheduler.pendingDeliveries,
            dead: scheduler.deadDeliveries)
        bounds.note(now, before: share)
        share = now
    }

    /// Counts a timer that is about to be made; the next `noteShare` counts it no more if it was not.
    func takeTimer() throws(TimerRefusal) {
        guard bounds.takeTimer(&share) else { throw .timerLimit(configuration.maximumTimers) }
    }

    /// Bounds the idempotency keys by what the other engines leave.
    func boundKeys() {
        guard bounds.isShared else { return }
        let kept = bounds.keyBounds(of: share)
        idempotency.bound(maximum: kept.keys, maximumBytes: kept.bytes)
    }

    /// Bounds the deliveries by what the other engines leave.
    func boundDeliveries() {
        guard bounds.isShared else { return }
        let kept = bounds.deliveryBounds(of: share)
        scheduler.boundDeliveries(backlog: kept.pending, deadLetters: kept.dead)
    }

    /// Counts no more for the bounds of the process, nor for the committer: the partition is not here any more.
    func leave() {
        lock.withLock {
            bell.took(batch.requests)
            batch.requests = 0
            guard bounds.isShared, !hasLeft else { return }
            hasLeft = true
            bounds.note(SharedBounds.Share(), before: share)
        }
    }
}
