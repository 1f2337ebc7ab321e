public import TimerCore
public import TimerLog

/// The state that an export reads.
extension Turn {
    /// A stamp that stays the same while this engine goes on and no drain of it is taken back. Other engines have
    /// other stamps.
    public var drainStamp: UInt64 { engine.drainStamp }

    /// Returns the position of the newest record about the timer at `slot`.
    public func lastRecord(_ slot: SlotIndex) -> Int64 { engine.scheduler.lastRecord(slot) }

    /// Returns the pending deliveries of the timer at `slot`, in the order in which they are sent. An attempt under
    /// way counts as not made.
    public func departing(_ slot: SlotIndex) -> [DeliveryDetail] {
        let ids = pendingDeliveries(of: slot)
        noteLooks(ids.count)
        return ids.compactMap { delivery($0).map(Self.withoutAttempt) }
    }

    /// Returns a delivery as it is, except that an attempt under way counts as not made.
    public static func withoutAttempt(_ delivery: DeliveryDetail) -> DeliveryDetail {
        guard delivery.state == .inFlight else { return delivery }
        var delivery = delivery
        delivery.state = .pending
        delivery.attempts -= 1
        return delivery
    }
}

/// Timers and deliveries that come from another server.
extension Turn {
    /// The policy of an import for a timer whose id is taken.
    public enum ConflictPolicy: Sendable {
        /// The timer is refused.
        case fail
        /// The timer that is here stays, and the import goes on without its own.
        case skip
        /// The timer that is here is deleted.
        case replace
    }

    /// Returns how far the import of `export` has come; nil where nothing is known of it.
    public func importProgress(of export: Hash128) -> ImportProgress? { engine.imports.progress(of: export) }

    /// Records how far an import has come, in the batch of its changes.
    public func keep(_ progress: ImportProgress) {
        var progress = progress
        progress.at = now.wall
        progress.by = engine.actor
        let position = engine.takePosition()
        RecordCodec.append(progress, to: &engine.batch.records.open)
        if progress.begin == 0 { progress.begin = position }
        engine.imports.note(progress)
        engine.scheduler.arrivingFloor = engine.imports.versionFloor
    }

    /// Raises the floor of versions to `floor`, so that new timers get versions above those of timers that were
    /// deleted elsewhere.
    public func raiseVersionFloor(_ floor: Int64) throws(ServiceError) {
        try checkAvailable()
        engine.scheduler.foldVersionFloor(floor)
        engine.recordVersionFloor()
    }

    /// The highest version that a deleted timer had, or that a lost change may have had.
    public var versionFloor: Int64 {
        max(
            engine.scheduler.versionFloor, engine.scheduler.arrivingFloor, engine.scheduler.lostVersions,
            engine.lostVersions)
    }

    /// Whether the timer at `slot` came with the import that began at `begin`: it was made at `createdAt`, and the
    /// record of its newest definition is after `begin`.
    private func came(_ slot: SlotIndex, createdAt: Int64, since begin: Int64) -> Bool {
        engine.scheduler.createdAt(slot) == createdAt && engine.scheduler.base(slot) > begin
    }

    /// Whether an id is taken by a timer that did not come with the import.
    public func isTaken(_ key: borrowing TimerKey, createdAt: Int64, since begin: Int64) -> Bool {
        guard let slot = engine.scheduler.find(key) else { return false }
        return !came(slot, createdAt: createdAt, since: begin)
    }

    /// Whether there is a timer named `key`.
    public func exists(_ key: borrowing TimerKey) -> Bool { engine.scheduler.find(key) != nil }

    /// Makes a timer in the state that it had on another server, or changes the one that the import brought before.
    ///
    /// - Parameters:
    ///   - definition: the definition, encoded, with the id of `key`.
    ///   - begin: the position at which the import began: see `ImportProgress`.
    /// - Returns: whether the timer was taken; false where the one that is here stays.
    public func take(
        _ key: TimerKey, definition: inout [UInt8], _ arrival: TimerArrival, _ policy: ConflictPolicy,
        since begin: Int64
    ) throws(ServiceError) -> Bool {
        try checkAvailable()
        if let slot = engine.scheduler.find(key), came(slot, createdAt: arrival.createdAt, since: begin) {
            try change { (scheduler, effects) in
                scheduler.replaceImported(slot, definition: &definition, arrival, now, &effects)
            }
            engine.expectSubscriber(key, slot, now)
            return true
        }
        do throws(TimerRefusal) {
            try engine.scheduler.checkCalendar(of: definition.span, arrival)
        } catch {
            throw .refused(error)
        }
        if let slot = engine.scheduler.find(key) {
            switch policy {
            case .fail: throw .refused(.exists)
            case .skip: return false
            case .replace: try delete(slot, if: .none)
            }
        }
        let slot = try change { (scheduler, effects) throws(TimerRefusal) in
            try scheduler.place(key, definition: &definition, arrival, now, &effects)
        }
        engine.expectSubscriber(key, slot, now)
        return true
    }

    /// Takes a delivery over: one of a timer that came with the import, or one whose timer was deleted elsewhere.
    ///
    /// - Parameters:
    ///   - key: the key of its timer.
    ///   - event: the effect that the record of its event describes, whose slot means nothing.
    ///   - actor: the client whose request made the event; nil for none.
    ///   - definition: the timer's definition at the event, encoded; with the webhook where the timer was deleted.
    ///   - origin: the event's id on the server where it happened.
    ///   - takesDeliveries: whether the webhook of a deleted timer took deliveries; nil where the timer is here.
    /// - Returns: whether the delivery was taken: not where the timer is another one, nor, for a pending delivery,
    ///   where the timer takes none or has as many as it may.
    public func take(
        _ detail: DeliveryDetail, _ key: borrowing TimerKey, event: Effect, by actor: Actor? = nil,
        definition: [UInt8], origin: Int64, takesDeliveries: Bool?, since begin: Int64
    ) throws(ServiceError) -> Bool {
        try checkAvailable()
        var detail = detail
        detail.slot = nil
        // A delivery that was made here would not be due later either.
        let longest = detail.state == .dead ? Scheduler.deadLetterLifetime : Self.longestRetry
        detail.due = min(detail.due, now.wall + longest)
        if let takesDeliveries {
            recordWill(definition, takesDeliveries: takesDeliveries)
        } else {
            let createdAt = Definition.createdAt(definition.span)
            guard let slot = engine.scheduler.find(key), came(slot, createdAt: createdAt, since: begin),
                engine.scheduler.takesDeliveries(slot) || detail.state == .dead,
                detail.state == .dead || !engine.scheduler.hasMostDeliveries(slot)
            else { return false }
            detail.slot = slot
        }
        let body = RecordCodec.event(event, by: actor, definition: definition.span)
        detail.id = engine.takePosition()
        detail.body = detail.id
        RecordCodec.append(
            detail, origin: origin, at: now.wall, isEvent: true, body.span, to: &engine.batch.records.open)
        engine.scheduler.takeDelivery(detail, definition: definition.span, position: detail.id, now)
        engine.spent += 1 + body.count / EngineConfiguration.bytesPerChange
        return true
    }

    /// The longest wait of an attempt for its due instant, in milliseconds: twice the longest `max` of a retry
    /// policy.
    private static let longestRetry: Int64 = 14 * 86_400_000

    private func recordWill(_ definition: [UInt8], takesDeliveries: Bool) {
        let will = DeliveryWill(position: engine.takePosition(), takesDeliveries: takesDeliveries)
        RecordCodec.appendWill(
            takesDeliveries: takesDeliveries, at: now.wall, definition: definition.span, to: &engine.batch.records.open)
        engine.scheduler.moveWill(definition.span, will)
    }
}
