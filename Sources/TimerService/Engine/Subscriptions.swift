public import TimerCore

/// The number of streams that follow each timer, and the timers that the last stream left or at which a stream is
/// expected. Kept in memory alone, since a stop of the server ends every stream.
struct Subscriptions {
    private struct Place {
        var key: TimerKey
        /// How many streams follow the timer.
        var readers = 0
        /// The instant, in elapsed nanoseconds, from which it counts that no stream follows the timer.
        var deadline: Int64?
    }

    private struct Deadline {
        var hash: UInt64
        var at: Int64
    }

    private var places: [UInt64: Place] = [:]
    /// The deadlines of timers that the last stream left, and of timers at which a stream is expected since a
    /// start. Each queue has deadlines of one length, so they are in order. A deadline that a subscriber or a later
    /// deadline made void is passed over.
    private var leaving: FIFO<Deadline> = FIFO()
    private var returning: FIFO<Deadline> = FIFO()

    /// How long a timer may be without a stream before that counts, in nanoseconds.
    static let patience: Int64 = 2_000_000_000
    /// How long the server waits after its start for streams that followed before, in nanoseconds.
    static let patienceAtStart: Int64 = 10_000_000_000

    /// Returns how many streams follow the timer named `key`.
    func readers(_ key: borrowing TimerKey) -> Int { places[key.hash]?.readers ?? 0 }

    /// The timers that a stream follows.
    var followed: [TimerKey] { places.values.filter { $0.readers > 0 }.map(\.key) }

    /// Whether streams that followed before the start are still expected.
    var expectsReturns: Bool { !returning.isEmpty }

    /// Notes that a stream follows the timer named `key`.
    mutating func come(_ key: TimerKey) {
        places[key.hash, default: Place(key: key)].readers += 1
        places[key.hash]?.deadline = nil
    }

    /// Notes that a stream that followed the timer named `key` has ended.
    ///
    /// - Returns: whether it was the last.
    mutating func leave(_ key: TimerKey) -> Bool {
        guard let readers = places[key.hash]?.readers, readers > 1 else {
            places[key.hash] = nil
            return true
        }
        places[key.hash]?.readers = readers - 1
        return false
    }

    /// Sets a deadline by which a stream has to follow the timer named `key`.
    ///
    /// - Parameter atStart: whether `patienceAtStart` applies: the server has just started, or the timer was just
    ///   imported.
    mutating func expect(_ key: TimerKey, at now: Int64, atStart: Bool = false) {
        let deadline = now + (atStart ? Self.patienceAtStart : Self.patience)
        places[key.hash, default: Place(key: key)].deadline = deadline
        if atStart {
            returning.append(Deadline(hash: key.hash, at: deadline))
        } else {
            leaving.append(Deadline(hash: key.hash, at: deadline))
        }
    }

    /// Whether a deadline of the timer named `key` is still to come.
    func isExpected(_ key: borrowing TimerKey) -> Bool { places[key.hash]?.deadline != nil }

    /// An instant in elapsed nanoseconds not after the next deadline; nil when there is none.
    var nextWake: Int64? {
        guard let left = leaving.first?.at else { return returning.first?.at }
        return min(left, returning.first?.at ?? .max)
    }

    /// Takes a timer whose deadline has come; nil when there is none.
    mutating func popDue(_ now: Int64) -> TimerKey? {
        while let next = pop(&leaving, now) ?? pop(&returning, now) {
            guard let place = places[next.hash], place.deadline == next.at else { continue }
            if place.readers == 0 { places[next.hash] = nil } else { places[next.hash]?.deadline = nil }
            return place.key
        }
        return nil
    }

    private func pop(_ deadlines: inout FIFO<Deadline>, _ now: Int64) -> Deadline? {
        guard let first = deadlines.first, first.at <= now else { return nil }
        return deadlines.popFirst()
    }
}

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
            // The timer's state does not allow the change, so the timer stays as it is.
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

extension Engine {
    /// Gives a timer that was imported running, and runs only while a stream follows it, time to get one. Called
    /// under the lock.
    func expectSubscriber(_ key: TimerKey, _ slot: SlotIndex, _ now: Now) {
        guard scheduler.stopsUnsubscribed(slot), scheduler.progress(slot).state == .running,
            subscriptions.readers(key) == 0
        else { return }
        subscriptions.expect(key, at: now.elapsed, atStart: true)
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
