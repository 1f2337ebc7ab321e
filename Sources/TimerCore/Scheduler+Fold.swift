extension Scheduler {
    /// Takes a record of the log over: what it says is copied, nothing is decided.
    ///
    /// - Parameters:
    ///   - definition: the whole definition where the record holds it, else its prefix.
    ///   - isWhole: which of the two.
    ///   - progress: as it was after the record.
    ///   - position: of the record.
    ///   - lastEvent: position of the timer's newest event: the record's own, or the one it names.
    /// - Returns: false when the record speaks of a timer that no earlier record defined.
    public mutating func fold(
        definition: Span<UInt8>, isWhole: Bool, progress: TimerProgress, position: Int64, lastEvent: Int64
    ) -> Bool {
        let slot: SlotIndex
        var isNew = false
        // The records of one step follow each other, so the timer of the last one is the likeliest.
        if let last = lastFolded, table.isNamed(last, by: definition) {
            slot = last
        } else {
            let key = TimerKey(definition: definition, siphash: table.siphash)
            if let found = table.find(key) {
                slot = found
            } else {
                guard isWhole else { return false }
                slot = table.insert(key, definition: definition, progress: progress)
                isNew = true
            }
            lastFolded = slot
        }
        if !isNew {
            if isWhole { table.redefine(slot, definition) }
            table.setProgress(slot, progress)
        }
        _ = table.stamp(slot, position: position, isBase: isWhole, isEvent: false)
        table.setLastEvent(slot, lastEvent)
        return true
    }

    /// Takes a deletion over. A timer that is not there was deleted in rows that are gone.
    public mutating func foldDeletion(prefix: Span<UInt8>, version: Int64) {
        versionFloor = max(versionFloor, version)
        guard let slot = table.find(TimerKey(definition: prefix, siphash: table.siphash)) else { return }
        table.unlink(slot)
        table.release(slot)
    }

    /// Raises the floor of versions to what an earlier life of the log reached.
    public mutating func foldVersionFloor(_ floor: Int64) { versionFloor = max(versionFloor, floor) }

    /// Plans every timer's next instant, once the whole log is folded.
    ///
    /// - Parameter now: where both wheels stand at the latest; they begin at the earliest instant still to come.
    public mutating func armAll(_ now: Now) {
        var start = (continuous: now.milliseconds(on: .continuous), wall: now.milliseconds(on: .wall))
        let clocks = (0..<table.slotCount).map { clockToArm(SlotIndex($0)) }
        for index in clocks.indices {
            let due = table[SlotIndex(index)].progress.due
            if clocks[index] == .continuous { start.continuous = min(start.continuous, due) }
            if clocks[index] == .wall { start.wall = min(start.wall, due) }
        }
        continuousWheel = TimerWheel(position: start.continuous)
        wallWheel = TimerWheel(position: start.wall)
        for index in clocks.indices {
            if let clock = clocks[index] { arm(SlotIndex(index), on: clock) }
        }
    }

    private func clockToArm(_ slot: SlotIndex) -> TimerClock? {
        guard table[slot].inUse else { return nil }
        let state = table[slot].progress.state
        if state == .running { return rules(slot).clock }
        return state.hasEnded ? .continuous : nil
    }
}
