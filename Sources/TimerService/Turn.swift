public import TimerCore
public import TimerLog

/// A hold of the engine's lock, at one instant, in which commands are applied. Each is one atomic step.
///
/// Changes are recorded before the call returns; what they rest on is told by `head` right after.
@safe public struct Turn: ~Copyable {
    let engine: Engine
    /// The instant of every step in this turn.
    public let now: Now

    init(engine: Engine, now: Now) {
        self.engine = engine
        self.now = now
    }

    /// Position of the newest record given out: an answer that speaks of everything waits until it is durable.
    public var head: Int64 { engine.head }

    /// Position of the newest record on disk.
    public var durableHead: Int64 { engine.durableHead }

    /// How many timers there are.
    public var count: Int { engine.scheduler.count }

    /// Takes a step of one request: `body`, which returns whether it was the last one. A batch so knows how many are to
    /// be answered when it is on disk.
    public func step(_ body: () -> Bool) -> Bool {
        engine.spent += 1
        let before = engine.waitingBytes
        let isLast = body()
        if isLast && engine.waitingBytes > before { engine.gathered += 1 }
        return isLast
    }

    /// Whether this hold of the lock has cost what one may: whoever has more to do goes on in another.
    public var isSpent: Bool { engine.spent >= EngineConfiguration.holdLimit }

    /// Notes that so many timers or deliveries were looked at.
    public func noteLooks(_ count: Int) { engine.spent += count / EngineConfiguration.looksPerChange }

    func checkAvailable() throws(ServiceError) {
        switch engine.availability {
        case .open: break
        case .storageUnavailable: throw .storageUnavailable
        case .stopping: throw .shuttingDown
        }
        if engine.waitingBytes > EngineConfiguration.maximumBatchBytes { throw .overloaded }
    }

    private func change<Result>(
        _ body: (inout Scheduler, inout [Effect]) throws(TimerRefusal) -> Result
    ) throws(ServiceError) -> Result {
        try checkAvailable()
        do {
            let (bytes, deliveries) = (engine.waitingBytes, engine.scheduler.pendingDeliveries)
            let result = try body(&engine.scheduler, &engine.effects)
            engine.record()
            engine.spent += 1 + (engine.waitingBytes - bytes) / EngineConfiguration.bytesPerChange
            noteLooks(max(0, deliveries - engine.scheduler.pendingDeliveries))
            return result
        } catch {
            engine.effects.removeAll(keepingCapacity: true)
            throw .refused(error)
        }
    }

    private func found(_ key: borrowing TimerKey) throws(ServiceError) -> SlotIndex {
        guard let slot = engine.scheduler.find(key) else { throw .refused(.notFound) }
        return slot
    }

    /// Where the timer named `key` is.
    public func find(_ key: borrowing TimerKey) -> SlotIndex? { engine.scheduler.find(key) }

    /// Copies a timer out.
    public func copy(_ slot: SlotIndex, into view: inout TimerView) {
        view.progress = engine.scheduler.progress(slot)
        view.kicks = engine.scheduler.kicks(slot)
        view.now = now
        view.position = engine.scheduler.lastRecord(slot)
        view.eventID = max(engine.scheduler.lastEvent(slot), engine.durableHead)
        view.definition.removeAll(keepingCapacity: true)
        engine.scheduler.withDefinition(slot) { definition in
            unsafe definition.withUnsafeBufferPointer { unsafe view.definition.append(contentsOf: $0) }
        }
        engine.spent += view.definition.count / EngineConfiguration.bytesPerChange
    }

    /// Makes a timer. `definition` is encoded, of the same id.
    public func create(
        _ key: borrowing TimerKey, definition: inout [UInt8]
    ) throws(ServiceError) -> SlotIndex {
        try change { (scheduler, effects) throws(TimerRefusal) in
            try scheduler.create(key, definition: &definition, now, &effects)
        }
    }

    /// Makes a timer, or replaces it and starts it afresh.
    ///
    /// - Parameter createOnly: a timer that exists is left as it is, and refused.
    /// - Returns: where it is, and whether it is new.
    public func put(
        _ key: borrowing TimerKey, definition: inout [UInt8], if condition: VersionCondition, createOnly: Bool
    ) throws(ServiceError) -> (slot: SlotIndex, isNew: Bool) {
        do throws(TimerRefusal) { try engine.scheduler.checkPlan(definition.span, now) } catch { throw .refused(error) }
        guard let slot = engine.scheduler.find(key) else {
            if condition != .none { throw .refused(.versionMismatch(current: nil)) }
            return (try create(key, definition: &definition), true)
        }
        if createOnly { throw .refused(.versionMismatch(current: engine.scheduler.progress(slot).version)) }
        try change { (scheduler, effects) throws(TimerRefusal) in
            try scheduler.replace(slot, definition: &definition, now, if: condition, &effects)
        }
        return (slot, false)
    }

    /// Replaces a timer and starts it afresh, provided its version is still `basis`.
    ///
    /// - Returns: nil when there is no timer, or its version moved on since `basis` was read: read again.
    public func replace(
        _ key: borrowing TimerKey, basis: Int64, definition: inout [UInt8], if condition: VersionCondition,
        createOnly: Bool
    ) throws(ServiceError) -> SlotIndex? {
        guard let slot = engine.scheduler.find(key), engine.scheduler.progress(slot).version == basis else {
            return nil
        }
        return try put(key, definition: &definition, if: condition, createOnly: createOnly).slot
    }

    /// Changes a timer's definition in place, provided its version is still `basis`.
    ///
    /// - Returns: nil when the version moved on since `basis` was read: read again.
    public func amend(
        _ key: borrowing TimerKey, basis: Int64, definition: inout [UInt8], if condition: VersionCondition
    ) throws(ServiceError) -> SlotIndex? {
        let slot = try found(key)
        guard engine.scheduler.progress(slot).version == basis else { return nil }
        _ = try change { (scheduler, effects) throws(TimerRefusal) in
            try scheduler.amend(slot, definition: &definition, now, if: condition, &effects)
        }
        return slot
    }

    /// Applies a command.
    public func apply(
        _ command: TimerCommand, _ key: borrowing TimerKey, target: RescheduleTarget? = nil,
        if condition: VersionCondition
    ) throws(ServiceError) -> SlotIndex {
        let slot = try found(key)
        try apply(command, slot, target: target, if: condition)
        return slot
    }

    /// Applies a command to the timer at `slot`.
    public func apply(
        _ command: TimerCommand, _ slot: SlotIndex, target: RescheduleTarget? = nil, if condition: VersionCondition
    ) throws(ServiceError) {
        try change { (scheduler, effects) throws(TimerRefusal) in
            try scheduler.apply(command, slot, target: target, now, if: condition, &effects)
        }
    }

    /// Deletes a timer.
    public func delete(_ key: borrowing TimerKey, if condition: VersionCondition) throws(ServiceError) {
        let slot = try found(key)
        try delete(slot, if: condition)
    }

    /// Deletes the timer at `slot`.
    public func delete(_ slot: SlotIndex, if condition: VersionCondition) throws(ServiceError) {
        try change { (scheduler, effects) throws(TimerRefusal) in
            try scheduler.delete(slot, now, if: condition, &effects)
        }
    }

    /// Reads the scheduler: lists, previews.
    public func read<Result>(_ body: (borrowing Scheduler) -> Result) -> Result { body(engine.scheduler) }

    /// The fires that a timer of these rules would have, activated now.
    public func preview(_ rules: TimerRules, count: Int) throws(ServiceError) -> UpcomingFires {
        do throws(TimerRefusal) {
            return try engine.scheduler.preview(rules, now, count: count)
        } catch {
            throw .refused(error)
        }
    }

    /// Judges a request with an idempotency key; a fresh one is under way until `answer` or `abandon`.
    public func begin(_ key: Hash128, fingerprint: Hash128) throws(ServiceError) -> IdempotencyVerdict {
        let verdict = engine.idempotency.begin(key, fingerprint: fingerprint, at: now.wall)
        guard verdict == .fresh else { return verdict }
        do throws(ServiceError) { try checkAvailable() } catch {
            engine.idempotency.abandon(key)
            throw error
        }
        return verdict
    }

    /// Whether any record at `positions` was given out and is lost.
    public func isLost(_ positions: ClosedRange<Int64>) -> Bool { engine.wasLost(positions) }

    /// Records the 2xx answer of a request with an idempotency key, in the batch of its changes. While storage fails
    /// the key is freed instead: what the request changed is gone, or nothing.
    public func answer(_ key: Hash128, fingerprint: Hash128, _ bytes: [UInt8]) {
        guard !engine.storageFails else { return abandon(key) }
        let stored = StoredAnswer(key: key, fingerprint: fingerprint, answeredAt: now.wall, answer: bytes)
        engine.record(stored)
    }

    /// Frees an idempotency key whose request got no 2xx answer.
    public func abandon(_ key: Hash128) {
        engine.idempotency.abandon(key)
        if engine.storageFails { engine.abandoned.append(key) }
    }
}
