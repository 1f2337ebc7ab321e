extension EngineCounters {
    /// Adds what another engine has counted: sums, but for the maxima, which are the greater of both.
    public mutating func add(_ other: EngineCounters) {
        Self.add(other.fires, to: &fires)
        Self.add(other.events, to: &events)
        Self.add(other.attempts, to: &attempts)
        Self.add(other.timers, to: &timers)
        lateness.add(other.lateness)
        commitSeconds.add(other.commitSeconds)
        commitRecords.add(other.commitRecords)
        deliverySeconds.add(other.deliverySeconds)
        holdSeconds.add(other.holdSeconds)
        commandsApplied += other.commandsApplied
        commandsRefused += other.commandsRefused
        commandsIgnored += other.commandsIgnored
        pendingDeliveries += other.pendingDeliveries
        deadDeliveries += other.deadDeliveries
        wakeups += other.wakeups
        alarmingWatchdogs += other.alarmingWatchdogs
        idempotencyKeys += other.idempotencyKeys
        logBytes += other.logBytes
        mostChangesPerTurn = max(mostChangesPerTurn, other.mostChangesPerTurn)
        overdueMilliseconds = max(overdueMilliseconds, other.overdueMilliseconds)
        addHolds(other.longestHolds)
    }

    private static func add(_ more: [Int], to counts: inout [Int]) {
        for index in counts.indices { counts[index] += more[index] }
    }

    /// Of each cause the longer hold stays, and the counts are added.
    private mutating func addHolds(_ others: [LongestHold]) {
        for (index, other) in others.enumerated() where index < longestHolds.count {
            let count = longestHolds[index].count + other.count
            if other.cpuSeconds > longestHolds[index].cpuSeconds { longestHolds[index] = other }
            longestHolds[index].count = count
        }
    }
}

extension PartitionMap {
    /// What the engines of all partitions have counted; nothing where none is owned.
    func snapshotCounters() -> EngineCounters {
        guard var sum = all.first?.engine.snapshotCounters() else { return EngineCounters() }
        for partition in all.dropFirst() { sum.add(partition.engine.snapshotCounters()) }
        return sum
    }
}
