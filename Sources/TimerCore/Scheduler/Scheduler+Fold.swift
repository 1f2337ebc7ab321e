extension Scheduler {
    /// Applies a record of the log: its values are copied, nothing is decided.
    ///
    /// - Parameters:
    ///   - definition: the whole definition where the record holds it, else its prefix.
    ///   - isWhole: whether `definition` is whole.
    ///   - isCreation: whether the record is that of the timer's creation, so that no timer has its name yet.
    ///   - progress: the timer's progress after the record.
    ///   - kicks: the rest of a watchdog's progress; nil for other kinds.
    ///   - position: the position of the record.
    ///   - lastEvent: the position of the timer's newest event: the record's own, or the one it names.
    /// - Returns: false when the record is about a timer that no earlier record defined.
    public mutating func fold(
        definition: Span<UInt8>, isWhole: Bool, isCreation: Bool = false, progress: TimerProgress,
        kicks: KickProgress?, position: Int64, lastEvent: Int64
    ) -> Bool {
        let slot: SlotIndex
        var isNew = false
        if isCreation {
            guard isWhole else { return false }
            let hash = TimerKey.hash(definition: definition, siphash: table.siphash)
            slot = table.insertUnindexed(hash, definition: definition, progress: progress)
            isNew = true
        } else if let last = lastFolded, table.isNamed(last, by: definition) {
            // The records of one step follow each other, so the timer of the last one is the likeliest.
            slot = last
        } else {
            let key = TimerKey(definition: definition, siphash: table.siphash)
            if let found = find(folded: key) {
                slot = found
            } else {
                guard isWhole else { return false }
                slot = table.insert(key, definition: definition, progress: progress)
                isNew = true
            }
        }
        lastFolded = slot
        if !isNew {
            if isWhole {
                table.redefine(slot, definition)
                dropUndeliverable(slot)
            }
            table.setProgress(slot, progress)
        }
        table.setKicks(slot, kicks)
        _ = table.stamp(slot, position: position, isBase: isWhole, isEvent: false)
        table.setLastEvent(slot, lastEvent)
        return true
    }

    private mutating func find(folded key: borrowing TimerKey) -> SlotIndex? {
        indexFolded()
        return table.find(key)
    }

    /// Puts the timers that were folded since the last call into the index.
    public mutating func indexFolded() { table.indexRest() }

    /// Applies the record of a kick, unless its timer is deleted or a later record of the timer has been applied.
    ///
    /// - Parameters:
    ///   - hash: the top half of the hash of the timer's name.
    ///   - base: the position of the record that held the timer's definition.
    public mutating func foldKick(
        hash: UInt32, base: Int64, progress: TimerProgress, kicks: KickProgress, position: Int64
    ) {
        indexFolded()
        guard let slot = table.find(hash: hash, base: base), table[slot].version < progress.version else {
            return
        }
        // Kicks come after the rest of their batch, in which the receiver may have stopped the webhook.
        var progress = progress
        progress.flags.formUnion(table[slot].flags.intersection(.webhookStopped))
        table.setProgress(slot, progress)
        table.setKicks(slot, kicks)
        table.stampKick(slot, position: position)
    }

    /// Applies a deletion. A timer that is not found was defined in rows that compaction removed.
    public mutating func foldDeletion(prefix: Span<UInt8>, version: Int64, position: Int64) {
        versionFloor = max(versionFloor, version)
        indexFolded()
        let key = TimerKey(definition: prefix, siphash: table.siphash)
        deleted.note(key.hash, at: position)
        guard let slot = table.find(key) else { return }
        dropDeliveries(slot)
        table.unlink(slot)
        table.release(slot)
    }

    /// Raises the floor of versions to the highest version of timers that were deleted in rows no longer in the
    /// log, or on another server.
    public mutating func foldVersionFloor(_ floor: Int64) { versionFloor = max(versionFloor, floor) }

    /// Notes the version up to which changes may have been lost; the last such record of the log counts.
    public mutating func foldLostVersions(_ version: Int64) { lostVersions = version }

    /// Puts the next version of every timer above `version`, up to which changes may have been lost.
    public mutating func noteLostVersions(_ version: Int64) { lostVersions = max(lostVersions, version) }

    /// The highest version of any timer, deleted ones included, as far as it is known. Takes time in proportion to the
    /// number of timers.
    public var highestVersion: Int64 {
        var highest = max(versionFloor, arrivingFloor, lostVersions)
        for slot in 0..<SlotIndex(table.slotCount) where table[slot].inUse {
            highest = max(highest, table[slot].version)
        }
        return highest
    }

    /// Notes that the log is folded up to its end, and is folded on as it grows. Nothing that compaction wrote again
    /// is still to come, so wills without deliveries are dropped now and later, and so are the oldest dead letters
    /// above `deadLetters`.
    public mutating func foldOn(deadLetters: Int) {
        indexFolded()
        deliveries.lives.forgetEmpty()
        boundDeliveries(backlog: deliveries.backlog, deadLetters: deadLetters)
    }

    /// Drops the dead letters that were to be forgotten by `wall`, in wall milliseconds, while the log is folded on.
    public mutating func forgetDeadLetters(dueBy wall: Int64) {
        var over: [UInt32] = []
        deliveries.dead.walk(after: .min, deliveries.slots) { place in
            if deliveries.slots[place].due(near: wall) <= wall { over.append(place) }
            return true
        }
        for place in over { deliveries.removeDead(place) }
    }

    /// Plans every timer's next instant, once the whole log is folded.
    ///
    /// - Parameters:
    ///   - now: the latest instant at which both wheels may begin; they begin at the earliest one still to be
    ///     handled.
    ///   - holding: whether running timers with `stop: subscriber` are held until a subscriber comes.
    ///   - moved: called now and then on the way, as millions of timers take seconds.
    /// - Returns: the slots of the running timers with `stop: subscriber`.
    @discardableResult
    public mutating func armAll(_ now: Now, holding: Bool = false, moved: () -> Void = {}) -> [SlotIndex] {
        indexFolded()
        var stoppable: [SlotIndex] = []
        let slots = (0..<SlotIndex(table.slotCount))
        var start = (elapsed: now.milliseconds(on: .continuous), wall: now.milliseconds(on: .wall))
        for slot in slots where waits(slot) {
            let due = table[slot].due
            let clock = table[slot].state == .running ? table[slot].dueClock : .continuous
            if clock == .wall || clock == .working {
                start.wall = min(start.wall, due)
            } else {
                start.elapsed = min(start.elapsed, due - now.offset(of: clock))
            }
        }
        elapsedWheel = TimerWheel(position: start.elapsed)
        wallWheel = TimerWheel(position: start.wall)
        recentArmings = RecentArmings()
        for slot in slots {
            if slot & 0xFFFF == 0 { moved() }
            guard waits(slot) else { continue }
            let clock = table[slot].dueClock
            table.setPlannedPast(slot, wasPlannedPast(slot, clock, now))
            if table[slot].state == .running, table[slot].traits.contains(.stopsUnsubscribed) {
                stoppable.append(slot)
                if holding { held[slot] = table[slot].due }
            }
            if isHeld(slot) { continue }
            if table[slot].isPlanned, table[slot].traits.contains(.punctual) {
                arm(slot, on: clock, at: table[slot].due, now)
            } else {
                arm(slot, Grid(rules(slot), book), now)
            }
        }
        deliveries.armAll(now)
        replanFrom = book.isChanging ? 0 : nil
        return stoppable
    }

    /// Whether the due instant lay before the command that planned it, as far as the record shows; the record of a
    /// fire never shows that.
    func wasPlannedPast(_ slot: SlotIndex, _ clock: TimerClock, _ now: Now) -> Bool {
        let progress = table.progress(slot)
        return progress.updatedAt != progress.lastFiredAt && now.wall(of: progress.due, on: clock) < progress.updatedAt
    }

    private func waits(_ slot: SlotIndex) -> Bool {
        let state = table[slot].state
        return table[slot].inUse && (state == .running || state.hasEnded)
    }
}

/// The fold of deliveries at recovery: the log's records are copied, nothing is decided.
extension Scheduler {
    /// Notes that the event at position `id`, about the timer of `definition`, is to be delivered.
    public mutating func foldOwed(_ id: Int64, definition: Span<UInt8>) {
        // The timer is mostly that of the record itself.
        if let last = lastFolded, table.isNamed(last, by: definition) { return append(id, last) }
        indexFolded()
        let key = TimerKey(definition: definition, siphash: table.siphash)
        guard let slot = table.find(key) else {
            return deliveries.appendDetached(id, life(definition: definition))
        }
        append(id, slot)
    }

    /// Applies the record of a deleted timer's definition.
    public mutating func foldWill(_ will: DeliveryWill, definition: Span<UInt8>) { moveWill(definition, will) }

    /// Applies an outcome, recorded at `position`.
    ///
    /// - Parameter definition: the definition of the timer, or the prefix of it.
    public mutating func fold(_ outcome: DeliveryOutcome, definition: Span<UInt8>, at: Int64, position: Int64) {
        indexFolded()
        settle(outcome, at: at, position: position, wallOffset: 0)
        guard !definition.isEmpty,
            let slot = table.find(TimerKey(definition: definition, siphash: table.siphash))
        else { return }
        table.setLastEvent(slot, position)
        // The delivery's own record may have been compacted away before those of deliveries that ended with it.
        if outcome.reason == .gone && !outcome.isDetached {
            dropDeliveries(slot)
            stopWebhook(slot)
        }
    }

    /// Applies the state of a delivery that the record at `position` holds.
    ///
    /// - Parameters:
    ///   - detail: the delivery's state, with its due instant on the wall clock; its slot is nil if it belongs to
    ///     no timer.
    ///   - definition: the definition of its timer; the prefix of it if the delivery belongs to none.
    ///   - progress: the timer's progress at the event; nil if the record does not hold the event.
    ///   - wallOffset: the milliseconds from the elapsed clock to the wall clock; 0 while a log is folded.
    public mutating func foldDelivery(
        _ detail: DeliveryDetail, definition: Span<UInt8>, progress: (TimerProgress, KickProgress?)?,
        position: Int64, wallOffset: Int64 = 0
    ) {
        indexFolded()
        let key = TimerKey(definition: definition, siphash: table.siphash)
        if detail.slot != nil, table.find(key) == nil {
            // The timer's own record was written again since, and follows.
            let (progress, kicks) = progress ?? (TimerProgress(), nil)
            _ = fold(
                definition: definition, isWhole: true, progress: progress, kicks: kicks, position: detail.id,
                lastEvent: detail.id)
        }
        let isCarried = progress != nil
        if deliveries.find(detail.id) == nil {
            guard isCarried else { return }
            if detail.slot == nil {
                deliveries.appendDetached(detail.id, life(definition: definition))
            } else {
                foldOwed(detail.id, definition: definition)
            }
        }
        guard let place = deliveries.find(detail.id) else { return }
        if isCarried { deliveries.setBody(place, position) }
        defer { if let last = detail.lastAttempt { deliveries.slots[place].lastAttempt = last } }
        switch detail.state {
        case .dead:
            guard deliveries.slots[place].state != .dead else { return }
            var outcome = DeliveryOutcome(.deliveryDead, delivery: detail.id, attempt: detail.attempts)
            outcome.reason = detail.reason
            settle(
                outcome, at: detail.due - DeliveryTable.deadLifetime, position: position, wallOffset: wallOffset)
        case .pending, .inFlight:
            if deliveries.slots[place].state == .dead {
                return moveToPending(place, key, at: detail.redrivenAt, restsOn: position)
            }
            deliveries.setRedriven(place, at: detail.redrivenAt)
            deliveries.slots[place].state = .pending
            deliveries.slots[place].attempts = detail.attempts
        case .waiting:
            deliveries.setRedriven(place, at: detail.redrivenAt)
            deliveries.slots[place].state = .waiting
            deliveries.slots[place].attempts = detail.attempts
            deliveries.arm(place, due: detail.due - wallOffset)
        case .delivered, .stopped:
            _ = dropDelivery(detail.id, position: position)
        }
    }
}
