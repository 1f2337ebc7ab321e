public import TimerCore

/// A snapshot of what the engine has counted since it started.
public struct EngineCounters: Sendable {
    /// Makes counters that have counted nothing.
    public init() {}

    /// Fires by reason, indexed by `EventReason`.
    public var fires = [Int](repeating: 0, count: EventReason.allCases.count)
    /// Events by type, indexed by `EventType.rawValue`.
    public var events = [Int](repeating: 0, count: 32)
    /// The lateness of fires, in seconds.
    public var lateness = Histogram(bounds: [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 60])
    /// The duration of commits, in seconds.
    public var commitSeconds = Histogram(bounds: [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5])
    /// How many records a commit held.
    public var commitRecords = Histogram(bounds: [1, 10, 100, 1000, 10_000, 100_000])
    /// Attempts at deliveries by how they ended: see `AttemptKind`.
    public var attempts = [Int](repeating: 0, count: AttemptKind.allCases.count)
    /// Commands of receivers that were applied.
    public var commandsApplied = 0
    /// Commands of receivers that were not legal.
    public var commandsRefused = 0
    /// Commands in answers that were no 2xx, or of deliveries that were dropped meanwhile.
    public var commandsIgnored = 0
    /// The time from a fire to the 2xx of its webhook, in seconds.
    public var deliverySeconds = Histogram(bounds: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 60, 600, 3600])
    /// Deliveries that are pending.
    public var pendingDeliveries = 0
    /// Dead letters.
    public var deadDeliveries = 0
    /// How often the fire loop woke because something was due.
    public var wakeups = 0
    /// Timers by state, indexed by `TimerState.rawValue`.
    public var timers = [Int](repeating: 0, count: TimerState.allCases.count)
    /// Watchdogs that alarm now.
    public var alarmingWatchdogs = 0
    /// Idempotency keys held.
    public var idempotencyKeys = 0
    /// How long the engine's lock was held, in seconds of processor time: see `HoldMeter`.
    public var holdSeconds = Histogram(bounds: [])
    /// The longest hold of each `HoldCause`; empty unless every hold is measured.
    public var longestHolds: [LongestHold] = []
    /// The most that the commands of one hold of the lock cost: see `EngineConfiguration.holdLimit`.
    public var mostChangesPerTurn = 0
    /// Age of the oldest due instant that has not fired, in milliseconds; 0 where there is none.
    public var overdueMilliseconds: Int64 = 0

    /// How an attempt at a delivery ended.
    public enum AttemptKind: Int, Sendable, CaseIterable {
        case delivered, failed, dead, gone

        /// The name on the wire.
        public var name: StaticString {
            switch self {
            case .delivered: "delivered"
            case .failed: "failed"
            case .dead: "dead"
            case .gone: "gone"
            }
        }
    }

    mutating func count(_ end: AttemptEnd, at wall: Int64) {
        let outcome = end.outcome
        if outcome.type == .delivered, let firedAt = end.firedAt {
            // The calendar may have been set back since.
            deliverySeconds.observe(Double(max(0, wall - firedAt)) / 1000)
        }
        guard outcome.endsAttempt else { return }
        let kind: AttemptKind =
            switch outcome.type {
            case .delivered: .delivered
            case .deliveryFailed: .failed
            default: outcome.reason == .gone ? .gone : .dead
            }
        attempts[kind.rawValue] += 1
    }

    mutating func count(_ type: EventType) { events[Int(type.rawValue)] += 1 }

    mutating func count(_ effect: Effect) {
        guard let type = effect.type else { return }
        count(type)
        guard type == .fired, let fire = effect.fire else { return }
        fires[Int(effect.reason.rawValue)] += 1
        lateness.observe(Double(fire.latenessUs) / 1_000_000)
    }
}

/// A histogram with fixed bounds, as Prometheus has it.
public struct Histogram: Sendable {
    /// Upper bounds of the buckets, rising; one more bucket without a bound follows.
    public let bounds: [Double]
    /// Observations in each bucket, not cumulated.
    public private(set) var counts: [Int]
    /// Sum of what was observed.
    public private(set) var sum = 0.0

    /// Makes an empty histogram.
    public init(bounds: [Double]) {
        self.bounds = bounds
        counts = [Int](repeating: 0, count: bounds.count + 1)
    }

    /// Adds an observation.
    public mutating func observe(_ value: Double) {
        counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
        sum += value
    }

    /// Returns the observations that were added since `earlier`, an older state of this histogram.
    public func since(_ earlier: Histogram) -> Histogram {
        var added = self
        for index in counts.indices { added.counts[index] -= earlier.counts[index] }
        added.sum -= earlier.sum
        return added
    }

    /// The number of observations.
    public var total: Int { counts.reduce(0, +) }

    /// Returns an estimate of the value that the part `part` of the observations, 0 to 1, does not exceed; nil where
    /// there are none.
    ///
    /// The observations of a bucket count as spread evenly over it, as Prometheus' `histogram_quantile` has it; of what
    /// lies beyond the last bound that bound is returned.
    public func quantile(_ part: Double) -> Double? {
        let rank = part * Double(total)
        guard total > 0 else { return nil }
        var below = 0
        for (index, bound) in bounds.enumerated() {
            let count = counts[index]
            if count > 0, Double(below + count) >= rank {
                let lower = index == 0 ? 0 : bounds[index - 1]
                return lower + (bound - lower) * max(0, rank - Double(below)) / Double(count)
            }
            below += count
        }
        return bounds.last
    }
}

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

    /// The name of a time zone that a timer of the log uses and that the zones' data lack; nil for none.
    var missingZone: [UInt8]? { lock.withLock { scheduler.missingZone(of: unchecked) } }

    /// The time zones of cron schedules. May be read on any thread.
    public var zones: any ZoneSource { configuration.zones }

    /// Hashes for keys made outside of the lock; fixed for the life of the log.
    public var siphash: SipHash { lock.withLock { scheduler.siphash } }
}
