import Primitives
public import TimerCore

/// A hold of the engine's lock, at one instant, in which commands are applied. Each command is one atomic step.
///
/// Changes are recorded before the call returns; `head` is then the position that an answer rests on.
@safe public struct Turn: ~Copyable {
    let engine: Engine
    /// The instant of every step in this turn.
    public let now: Now

    init(engine: Engine, now: Now) {
        self.engine = engine
        self.now = now
    }

    /// Position of the newest record given out: an answer about all timers waits until that record is durable.
    public var head: Int64 { engine.batch.head }

    /// How many timers there are.
    public var count: Int { engine.scheduler.count }

    /// Runs `body`, one step of a request, which returns whether it was the last one. The batch counts a request
    /// whose last step wrote records, so that it knows how many are answered once it is on disk.
    ///
    /// - Parameters:
    ///   - actor: the client of the request, which the events of the step name; nil for none.
    ///   - trace: the trace context of the request in its kept form, which the timers that the step makes, replaces
    ///     or patches keep; empty for none.
    public func step(by actor: Actor? = nil, tracing trace: [UInt8] = [], _ body: () -> Bool) -> Bool {
        let hasOrigin = actor != nil || !trace.isEmpty
        if hasOrigin { (engine.actor, engine.trace) = (actor, trace) }
        defer { if hasOrigin { (engine.actor, engine.trace) = (nil, []) } }
        engine.spent += 1
        let before = engine.waitingBytes
        let isLast = body()
        if isLast && engine.waitingBytes > before { engine.noteRequest() }
        return isLast
    }

    /// Whether this hold of the lock has cost what one may: a caller with more to do goes on in another turn.
    public var isSpent: Bool { engine.spent >= EngineConfiguration.holdLimit }

    /// Notes that so many timers or deliveries were looked at.
    public func noteLooks(_ count: Int) { engine.spent += count / EngineConfiguration.looksPerChange }

    /// Throws the error with which any change would be refused now.
    public func checkAvailable() throws(ServiceError) {
        switch engine.availability {
        case .open: break
        case .storageUnavailable: throw .storageUnavailable
        case .stopping: throw .shuttingDown
        case .drained: throw .drained
        }
        if engine.isFull { throw .overloaded }
    }

    func change<Result>(
        _ body: (inout Scheduler, inout [Effect]) throws(TimerRefusal) -> Result
    ) throws(ServiceError) -> Result {
        try checkAvailable()
        do {
            let (bytes, deliveries) = (engine.waitingBytes, engine.scheduler.pendingDeliveries)
            let cost = engine.scheduler.readingCost
            let result = try body(&engine.scheduler, &engine.effects)
            engine.record()
            engine.spent += 1 + (engine.waitingBytes - bytes) / EngineConfiguration.bytesPerChange
            engine.spent += engine.scheduler.readingCost - cost
            noteLooks(max(0, deliveries - engine.scheduler.pendingDeliveries))
            return result
        } catch {
            engine.effects.removeAll(keepingCapacity: true)
            throw .refused(error)
        }
    }

    /// Puts the trace context of the request into `definition`, if the request has one.
    private func setTrace(in definition: inout [UInt8]) {
        if !engine.trace.isEmpty { Definition.setTrace(engine.trace, in: &definition) }
    }

    private func found(_ key: borrowing TimerKey) throws(ServiceError) -> SlotIndex {
        guard let slot = engine.scheduler.find(key) else { throw .refused(.notFound) }
        return slot
    }

    /// Returns the slot of the timer named `key`; nil where there is none.
    public func find(_ key: borrowing TimerKey) -> SlotIndex? { engine.scheduler.find(key) }

    /// See ``Scheduler/fetch(_:)``.
    public func fetch(_ hashes: [UInt64]) { engine.scheduler.fetch(hashes) }

    /// Copies the timer at `slot` into `view`.
    public func copy(_ slot: SlotIndex, into view: inout TimerView) {
        view.progress = engine.scheduler.presentProgress(slot)
        view.kicks = engine.scheduler.kicks(slot)
        view.now = now
        view.workingLeft = engine.scheduler.workingLeft(slot, now)
        view.position = engine.scheduler.lastRecord(slot)
        view.eventID = max(engine.scheduler.lastEvent(slot), engine.shownHead)
        engine.scheduler.withDefinition(slot) { definition in
            if view.definition.capacity < definition.count { return view.definition = [UInt8](copying: definition) }
            view.definition.removeAll(keepingCapacity: true)
            view.definition.append(copying: definition)
        }
        engine.spent += view.definition.count / EngineConfiguration.bytesPerChange
    }

    /// Makes a timer. `definition` is encoded, and has the id of `key`.
    public func create(
        _ key: borrowing TimerKey, definition: inout [UInt8]
    ) throws(ServiceError) -> SlotIndex {
        setTrace(in: &definition)
        return try change { (scheduler, effects) throws(TimerRefusal) in
            try scheduler.create(key, definition: &definition, now, &effects)
        }
    }

    /// Makes a timer, or replaces it and starts it afresh.
    ///
    /// - Parameter unwanted: a condition; a timer that it holds for is left as it is, and the request refused.
    /// - Returns: its slot, and whether it is new.
    public func put(
        _ key: borrowing TimerKey, definition: inout [UInt8], if condition: VersionCondition,
        unless unwanted: VersionCondition
    ) throws(ServiceError) -> (slot: SlotIndex, isNew: Bool) {
        do throws(TimerRefusal) { try engine.scheduler.checkPlan(definition.span, now) } catch { throw .refused(error) }
        guard let slot = engine.scheduler.find(key) else {
            if condition != .none { throw .refused(.versionMismatch(current: nil)) }
            return (try create(key, definition: &definition), true)
        }
        let version = engine.scheduler.progress(slot).version
        if unwanted.names(version) { throw .refused(.versionMismatch(current: version)) }
        setTrace(in: &definition)
        try change { (scheduler, effects) throws(TimerRefusal) in
            try scheduler.replace(slot, definition: &definition, now, if: condition, &effects)
        }
        return (slot, false)
    }

    /// Replaces a timer and starts it afresh, or makes it, provided its version is still `basis`.
    ///
    /// - Parameter basis: 0 where there was no timer.
    /// - Returns: nil when the version moved on since `basis` was read: read again. Otherwise the timer, and whether it
    ///   was made.
    public func replace(
        _ key: borrowing TimerKey, basis: Int64, definition: inout [UInt8], if condition: VersionCondition,
        unless unwanted: VersionCondition
    ) throws(ServiceError) -> (slot: SlotIndex, isNew: Bool)? {
        let version = engine.scheduler.find(key).map { engine.scheduler.progress($0).version } ?? 0
        guard version == basis else { return nil }
        return try put(key, definition: &definition, if: condition, unless: unwanted)
    }

    /// Changes a timer's definition in place, provided its version is still `basis`.
    ///
    /// - Returns: nil when the version moved on since `basis` was read: read again.
    public func amend(
        _ key: borrowing TimerKey, basis: Int64, definition: inout [UInt8], if condition: VersionCondition
    ) throws(ServiceError) -> SlotIndex? {
        let slot = try found(key)
        guard engine.scheduler.progress(slot).version == basis else { return nil }
        let startsWebhook = engine.changesStoppedWebhook(slot, definition)
        setTrace(in: &definition)
        _ = try change { (scheduler, effects) throws(TimerRefusal) in
            try scheduler.amend(
                slot, definition: &definition, startsWebhook: startsWebhook, now, if: condition, &effects)
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

    /// Whether a command would change the timer at `slot`.
    ///
    /// - Throws: what `apply` would throw.
    public func check(
        _ command: TimerCommand, _ slot: SlotIndex, target: RescheduleTarget? = nil
    ) throws(ServiceError) -> Bool {
        do throws(TimerRefusal) {
            return try engine.scheduler.check(command, slot, target: target, now)
        } catch {
            throw .refused(error)
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

    /// Reads the scheduler, for lists and previews.
    public func read<Result>(_ body: (borrowing Scheduler) -> Result) -> Result { body(engine.scheduler) }

    /// Returns the fires that a timer of these rules would have, activated now.
    public func preview(_ rules: TimerRules, count: Int) throws(ServiceError) -> UpcomingFires {
        do throws(TimerRefusal) {
            return try engine.scheduler.preview(rules, now, count: count)
        } catch {
            throw .refused(error)
        }
    }

    /// Whether any record at `positions` was given out and is lost.
    public func isLost(_ positions: ClosedRange<Int64>) -> Bool { engine.fates.isLost(positions) }
}

/// A timer as it was at one instant, copied out from under the lock to be shown.
public struct TimerView: Sendable {
    /// The part of the timer that changes during its life.
    public var progress = TimerProgress()
    /// The rest of a watchdog's progress; nil for other kinds.
    public var kicks: KickProgress?
    /// The milliseconds of working time left of a running timer that counts it; nil for others.
    public var workingLeft: Int64?
    /// The part that its client set, encoded; see `Definition`.
    public var definition: [UInt8] = []
    /// The instant at which the timer was copied.
    public var now = Now(elapsed: 0, wallOffset: 0)
    /// Position of the newest record that the view rests on: showing it waits until that record is durable.
    public var position: Int64 = 0
    /// Position of the newest event that the view reflects.
    public var eventID: Int64 = 0

    /// Makes an empty view, to be filled again and again.
    public init() {}
}

/// The reason why the service could not take a command to the timers.
public enum ServiceError: Error, Sendable, Equatable {
    /// The state machine refused the command.
    case refused(TimerRefusal)
    /// The rules of access keys refused the change.
    case keyRefused(KeyRefusal)
    /// The change of a calendar was refused.
    case calendarRefused(CalendarRefusal)
    /// Storage takes no writes now; nothing was changed.
    case storageUnavailable
    /// More work waits for the disk than may wait; nothing was changed.
    case overloaded
    /// The server is drained; nothing was changed.
    case drained
    /// The service is stopping; nothing was changed.
    case shuttingDown
}

/// Declarations: a timer is made, or changed in what differs from the declared one.
extension Turn {
    /// Throws unless the conditions of a PUT hold.
    ///
    /// - Parameters:
    ///   - slot: the timer's slot; nil where it does not exist.
    ///   - unwanted: a condition that refuses the request where it holds for the timer.
    public func checkConditions(
        _ slot: SlotIndex?, if condition: VersionCondition, unless unwanted: VersionCondition
    ) throws(ServiceError) {
        guard let slot else {
            if condition != .none { throw .refused(.versionMismatch(current: nil)) }
            return
        }
        let version = engine.scheduler.progress(slot).version
        if unwanted.names(version) { throw .refused(.versionMismatch(current: version)) }
        do throws(TimerRefusal) { try condition.check(version) } catch { throw .refused(error) }
    }

    /// Whether the timer at `slot` has `definition`, apart from when it was made.
    public func holds(_ slot: SlotIndex, _ definition: [UInt8]) -> Bool {
        engine.scheduler.holds(slot, definition.span)
    }

    /// Returns a copy of the definition of the timer at `slot`, encoded.
    public func definition(of slot: SlotIndex) -> [UInt8] {
        var definition: [UInt8] = []
        engine.scheduler.withDefinition(slot) { definition.append(copying: $0) }
        // The cost includes the caller's work: the caller compares the definition's parts.
        engine.spent += 1 + definition.count / EngineConfiguration.bytesPerChange
        return definition
    }

    /// Changes the timer at `slot` to what its client declares; see `Scheduler.declare`.
    public func declare(_ slot: SlotIndex, definition: inout [UInt8]) throws(ServiceError) {
        let startsWebhook = engine.changesStoppedWebhook(slot, definition)
        setTrace(in: &definition)
        _ = try change { (scheduler, effects) throws(TimerRefusal) in
            try scheduler.declare(slot, definition: &definition, startsWebhook: startsWebhook, now, &effects)
        }
    }

    /// Throws the refusal that a declaration would get for what it asks, and changes nothing.
    ///
    /// - Parameter slot: the timer's slot; nil where it does not exist.
    public func checkDeclaration(_ slot: SlotIndex?, _ definition: [UInt8]) throws(ServiceError) {
        do throws(TimerRefusal) {
            try engine.scheduler.checkDeclaration(slot, definition.span, now)
        } catch {
            throw .refused(error)
        }
    }
}
