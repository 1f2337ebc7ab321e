public import TimerCore

/// Timers that run only while a stream follows their events.
extension Engine {
    /// Notes that a stream follows the timer named `key`, from now until `unsubscribe`.
    public func subscribe(_ key: TimerKey) {
        step { now in
            subscriptions.come(key)
            // The timer may have been suspended while the stream was being opened.
            if let slot = scheduler.find(key), scheduler.stopsUnsubscribed(slot) { welcome(slot, now) }
        }
    }

    /// Notes that a stream that followed the timer named `key` has ended.
    public func unsubscribe(_ key: TimerKey) {
        step { now in
            guard subscriptions.leave(key), let slot = scheduler.find(key), scheduler.stopsUnsubscribed(slot) else {
                return
            }
            subscriptions.expect(key, at: now.elapsed)
        }
    }

    /// Runs `body` under the lock, at one instant. (`turn` can't be called from here: the optimizer of Swift 6.3
    /// crashes where it specializes that within this module.)
    private func step(_ body: (Now) -> Void) {
        lock.lock(.turn)
        defer { lock.unlock() }
        let now = instant()
        body(now)
        afterChanges(now)
    }

    /// Starts or resumes a timer that waits for a subscriber. Called under the lock.
    private func welcome(_ slot: SlotIndex, _ now: Now) {
        scheduler.release(slot, now)
        guard availability == .open, scheduler.waitsForSubscriber(slot) else { return }
        do throws(TimerRefusal) { try scheduler.subscribe(slot, now, &effects) } catch {
            // The timer can't go on, and stays as it is.
            effects.removeAll(keepingCapacity: true)
        }
        record()
    }

    /// Suspends timers that no stream has followed for too long, and starts or resumes timers that waited for a
    /// subscriber and have one: a bounded number of them. Called under the lock.
    ///
    /// - Returns: whether that was all of them.
    func settleSubscriptions(_ now: Now) -> Bool {
        for _ in 0..<EngineConfiguration.stepLimit {
            guard let key = subscriptions.popDue(now.elapsed) else { return true }
            guard let slot = scheduler.find(key) else { continue }
            guard subscriptions.readers(key) == 0 else {
                welcome(slot, now)
                continue
            }
            scheduler.unsubscribe(slot, lastUp: lastUp, now, &effects)
            record()
        }
        return false
    }

    /// Returns the next instant, in elapsed nanoseconds, at which a timer or a deadline of a subscription is due;
    /// nil for none.
    func nextWake(_ now: Now) -> Int64? {
        guard let next = scheduler.nextWake(now) else { return subscriptions.nextWake }
        return min(next, subscriptions.nextWake ?? .max)
    }

    /// Gives the timers that run only while a stream follows them time to get one, after a fold.
    ///
    /// - Parameters:
    ///   - stoppable: the slots of these timers.
    ///   - isStart: whether the engine has just begun, so that no stream follows anything yet.
    func expectSubscribers(of stoppable: [SlotIndex], _ now: Now, isStart: Bool) {
        let siphash = scheduler.siphash
        for slot in stoppable {
            let key = scheduler.withDefinition(slot) { TimerKey(definition: $0, siphash: siphash) }
            if subscriptions.readers(key) > 0 {
                scheduler.release(slot, now)
            } else if !subscriptions.isExpected(key) {
                subscriptions.expect(key, at: now.elapsed, atStart: isStart)
            }
        }
        guard !isStart else { return scheduler.noteHeldLoopStall(longerThan: FirePacer.stallThreshold, now) }
        // A failed append may have lost a change that the arrival of a stream made.
        for key in subscriptions.followed { subscriptions.expect(key, at: now.elapsed) }
    }
}

extension Turn {
    /// Notes that a stream is about to follow the timer named `key`, at `slot`, and starts or resumes the timer if
    /// it waits for that. A stream that never follows after this counts as one that has just left.
    public func subscribe(_ key: TimerKey, _ slot: SlotIndex) throws(ServiceError) {
        engine.scheduler.release(slot, now)
        if engine.scheduler.waitsForSubscriber(slot) {
            try change { (scheduler, effects) throws(TimerRefusal) in try scheduler.subscribe(slot, now, &effects) }
        }
        if engine.scheduler.stopsUnsubscribed(slot) && engine.subscriptions.readers(key) == 0 {
            engine.subscriptions.expect(key, at: now.elapsed)
        }
    }
}
