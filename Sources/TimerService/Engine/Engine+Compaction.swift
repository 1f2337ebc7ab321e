import Platform
import TimerCore
import TimerLog

/// The figures that compaction asks an engine for.
extension Engine {
    /// The figures that compaction decides by, at one instant.
    struct Upkeep {
        /// How often the log was folded again: what was recorded before a fold may be lost.
        var restarts: Int
        /// Position of the newest record given out.
        var head: Int64
        /// The instant, in wall milliseconds.
        var wall: Int64
        /// Timers, answers, keys and calendars that the log has to keep, and the bytes of their definitions and texts.
        var liveRecords: Int
        var liveBytes: Int
        /// Bytes of pending deliveries' events, estimated.
        var deliveryBytes: Int
        /// Bytes of deliveries' events that were written again so far.
        var carriedDeliveryBytes: Int
    }

    /// The figures that compaction decides by, as they are now.
    var upkeep: Upkeep {
        lock.withLock(.compaction) {
            Upkeep(
                restarts: restarts, head: batch.head, wall: instant().wall,
                liveRecords: scheduler.count + idempotency.count + keys.count + calendars.count,
                liveBytes: scheduler.definitionBytes + idempotency.answerBytes + keys.count * Engine.keyBytes
                    + calendars.byteCount,
                deliveryBytes: deliveryBytes,
                carriedDeliveryBytes: carriedDeliveryBytes)
        }
    }
}

/// The values that compaction gives to an engine.
extension Engine {
    /// The contents of a row to be deleted that may still be needed.
    struct Carried {
        /// Timers whose definition a record of the row holds: the timer's name, and the position of the record.
        var bases: [(key: TimerKey, position: Int64)] = []
        /// Answers to requests with an idempotency key, with the positions of their records.
        var answers: [(answer: StoredAnswer, position: Int64)] = []
        var kicks: [CarriedKick] = []
        /// Events of deliveries.
        var deliveries: [CarriedDelivery] = []
        /// Definitions of deleted timers, with the positions of their records.
        var wills: [(definition: [UInt8], position: Int64)] = []
        /// Access keys.
        var keys: [AccessKey] = []
        var calendars: [NamedCalendar] = []
        /// The number of entries, which are numbered in this order: bases, answers, kicks, deliveries, wills, keys,
        /// calendars.
        var count: Int {
            bases.count + answers.count + kicks.count + deliveries.count + wills.count + keys.count
                + calendars.count
        }
    }

    /// A kick in a row to be deleted: its timer, by hash and base as in the record, and the version that the kick
    /// made.
    struct CarriedKick {
        var hash: UInt32
        var base: Int64
        var version: Int64
    }

    /// The event of a delivery in a row to be deleted; it is written again if the delivery still needs it.
    struct CarriedDelivery {
        var id: Int64
        /// The id of the event on the server where it happened: see `RecordCodec`.
        var origin: Int64
        /// Position of the record that holds the event.
        var position: Int64
        /// The event's record, without frame.
        var event: [UInt8]
    }
}

/// Records that are no events: answers, and what compaction carries from old rows into new ones.
extension Engine {
    /// Writes the record of an answer and notes its position.
    func record(_ answer: StoredAnswer) {
        let position = takePosition()
        RecordCodec.append(answer, to: &batch.records.open)
        idempotency.note(LogFold.AnswerPlace(answer, position: position))
    }

    /// Forgets a few of the idempotency keys whose time is over. Returns whether there may be more.
    func forgetKeys() -> Bool {
        lock.withLock {
            idempotency.expire(instant().wall)
        }
    }

    /// Whether a step has recorded or dropped as much as one hold of the lock may.
    ///
    /// - Parameters:
    ///   - bytes: bytes of records that waited for the disk when the step began.
    ///   - deliveries: deliveries that were pending then.
    func isCostly(since bytes: Int, _ deliveries: Int) -> Bool {
        let copied = (waitingBytes - bytes) / EngineConfiguration.bytesPerChange
        let dropped = max(0, deliveries - scheduler.pendingDeliveries) / EngineConfiguration.looksPerChange
        return copied + dropped >= EngineConfiguration.holdLimit
    }

    /// Writes what is still needed of a row again, in one bounded step: afterwards nothing rests on the entries of
    /// `carried` before the returned index.
    ///
    /// - Returns: how many entries are done in all; nil while storage fails or the service stops.
    func carry(_ carried: Carried, from start: Int) -> Int? {
        lock.withLock(.compaction) {
            guard takesRecords else { return nil }
            let (bytes, deliveries) = (waitingBytes, scheduler.pendingDeliveries)
            var done = start
            while done < min(carried.count, start + EngineConfiguration.stepLimit), !isCostly(since: bytes, deliveries)
            {
                carry(carried, at: done)
                done += 1
            }
            afterChanges(instant())
            return done
        }
    }

    private func carry(_ carried: Carried, at index: Int) {
        if index < carried.bases.count { return carryBase(carried.bases[index].key, carried.bases[index].position) }
        var index = index - carried.bases.count
        if index < carried.answers.count {
            let (answer, position) = carried.answers[index]
            if idempotency.holds(LogFold.AnswerPlace(answer, position: position)) { record(answer) }
            return
        }
        index -= carried.answers.count
        if index < carried.kicks.count { return carryKick(carried.kicks[index]) }
        index -= carried.kicks.count
        if index < carried.deliveries.count { return carryDelivery(carried.deliveries[index]) }
        index -= carried.deliveries.count
        if index < carried.wills.count {
            let (definition, position) = carried.wills[index]
            return carryWill(definition, position)
        }
        index -= carried.wills.count
        if index < carried.keys.count { return carryKey(carried.keys[index]) }
        carryCalendar(carried.calendars[index - carried.keys.count])
    }

    /// Writes the floor of versions, a drain and the progress of imports again, whose records may be in old rows.
    /// Returns false while storage fails or the service stops.
    func carryVersionFloor() -> Bool {
        lock.withLock(.compaction) {
            guard takesRecords else { return false }
            recordVersionFloor()
            carryMove()
            // The newest mark may be in the rows that are to be deleted.
            if scheduler.lostVersions > 0 || showsEarly { needsMark = true }
            afterChanges(instant())
            return true
        }
    }

    private func carryBase(_ key: TimerKey, _ position: Int64) {
        guard let slot = scheduler.find(key), scheduler.base(slot) == position else { return }
        recordSnapshot(slot)
    }

    private func carryKick(_ kick: CarriedKick) {
        guard let slot = scheduler.find(hash: kick.hash, base: kick.base) else { return }
        let progress = scheduler.progress(slot)
        guard progress.version == kick.version, let kicks = scheduler.kicks(slot) else { return }
        recordKick(slot, progress, kicks)
    }

    /// Writes a delivery again.
    private func carryDelivery(_ carried: CarriedDelivery) {
        let now = clockNow
        guard var delivery = scheduler.delivery(carried.id, now), delivery.body == carried.position else { return }
        // An attempt under way is recorded by its outcome only.
        if delivery.state == .inFlight {
            delivery.state = .pending
            delivery.attempts -= 1
        }
        let position = takePosition()
        RecordCodec.append(
            delivery, origin: carried.origin, at: now.wall, isEvent: true, carried.event.span, to: &batch.records.open)
        carriedDeliveryBytes += carried.event.count
        scheduler.noteCarried(carried.id, at: position)
    }

    /// Writes a deleted timer's definition again.
    private func carryWill(_ definition: [UInt8], _ position: Int64) {
        guard var will = scheduler.will(definition.span), will.position == position else { return }
        will.position = takePosition()
        RecordCodec.appendWill(
            takesDeliveries: will.takesDeliveries, at: clockNow.wall, definition: definition.span,
            to: &batch.records.open)
        carriedDeliveryBytes += definition.count
        scheduler.moveWill(definition.span, will)
    }

    /// The estimated bytes of deliveries' events: each counts as one definition of average size, with its overhead.
    var deliveryBytes: Int {
        let count = scheduler.pendingDeliveries + scheduler.deadDeliveries
        return count * (scheduler.definitionBytes / max(1, scheduler.count) + Self.eventOverhead)
    }

    /// Bytes of an event's record, and of the record that holds it, beside the definition.
    private static let eventOverhead = 96

    /// Writes the record of a timer as it is.
    func recordSnapshot(_ slot: SlotIndex) {
        let position = takePosition()
        let progress = scheduler.progress(slot)
        let kicks = scheduler.kicks(slot)
        let lastEvent = scheduler.lastEvent(slot)
        scheduler.withDefinition(slot) { definition in
            RecordCodec.appendSnapshot(
                progress, kicks, lastEvent: lastEvent, definition: definition, to: &batch.records.open)
        }
        _ = scheduler.stamp(slot, position: position, isBase: true, isEvent: false)
    }

    /// Writes a record that says nothing new, for the sake of its row's time base: after a crash the suspending
    /// clock goes on from there.
    func tick() {
        let isAlone = batch.isEmpty
        recordVersionFloor()
        if isAlone { batch.noteTick() }
    }

    /// Writes the floor of versions, which must outlast the records of deleted timers that it was taken from.
    func recordVersionFloor() {
        _ = takePosition()
        appendVersionFloor()
    }

    /// Writes the record by which storage is tried, which says nothing new, and the mark that is due, if any.
    /// Returns that mark.
    func recordProbe() -> HighWaterMark? {
        _ = batch.takePosition(at: clockNow)
        appendVersionFloor()
        return needsMark ? recordMark(isExact: true) : nil
    }

    private func appendVersionFloor() {
        RecordCodec.appendVersionFloor(scheduler.versionFloor, at: instant().wall, to: &batch.records.open)
    }
}
