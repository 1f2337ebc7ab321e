public import TimerCore

extension Engine {
    /// Returns the counters as they are now.
    public func snapshotCounters() -> EngineCounters {
        lock.withLock {
            var counters = counters
            for state in TimerState.allCases { counters.timers[Int(state.rawValue)] = scheduler.count(in: state) }
            counters.alarmingWatchdogs = scheduler.alarmingCount
            counters.idempotencyKeys = idempotency.count
            counters.pendingDeliveries = scheduler.pendingDeliveries
            counters.deadDeliveries = scheduler.deadDeliveries
            counters.holdSeconds = lock.meter.seconds
            counters.longestHolds = lock.meter.longest
            let now = instant()
            // No timer of a drained server is overdue, as none is to fire.
            counters.overdueMilliseconds = isDrained ? 0 : scheduler.overdue(now)
            return counters
        }
    }

    /// How many timers there are.
    var timerCount: Int { lock.withLock { scheduler.count } }

    /// Whether changes are taken, apart from a drain.
    public var takesChanges: Bool { lock.withLock { takesRecords } }

    /// Whether fires, webhooks and changes are stopped.
    public var isDrainedNow: Bool { lock.withLock { isDrained } }

    /// The name of a time zone that a cron timer of the log uses and that the zones' data lack; nil for none.
    var missingZone: [UInt8]? { lock.withLock { scheduler.missingZone(of: unchecked) } }

    /// The time zones of cron schedules. May be read on any thread.
    public var zones: any ZoneSource { configuration.zones }

    /// Hashes for keys made outside of the lock; fixed for the life of the log.
    public var siphash: SipHash { lock.withLock { scheduler.siphash } }
}
