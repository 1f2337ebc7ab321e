import TimerCore
import TimerService

/// The figures of one interval of the history.
struct StatsPoint: Sendable, Equatable {
    /// The end of the interval, in wall milliseconds.
    var at: Int64
    /// The end of the interval, on the monotonic clock.
    var endedAt: Int64
    var durationMs: Int64

    // The events of the interval.
    var fires = 0
    /// The lateness that half of the fires, and 99 in 100, did not exceed, in microseconds; nil without fires.
    var latenessP50Us: Int64?
    var latenessP99Us: Int64?
    var commits = 0
    /// The duration that 99 in 100 commits did not exceed, in microseconds; nil without commits.
    var commitP99Us: Int64?
    var requests = 0
    /// Attempts at deliveries, those that a 2xx answered and all others.
    var delivered = 0
    var failed = 0

    // The state at its end.
    var running = 0
    var stalled = 0
    var overdueMs: Int64 = 0
    var streams = 0
    var pendingDeliveries = 0
    var deadDeliveries = 0

    /// Makes the point of the interval between two instants; nil where the process owned no log at its end.
    init?(from earlier: StatsFigures, to later: StatsFigures) {
        guard let ownership = later.ownership else { return nil }
        at = later.wall
        endedAt = later.monotonic
        durationMs = (later.monotonic - earlier.monotonic) / 1_000_000
        let before = earlier.ownership == ownership ? earlier.counters : EngineCounters()
        let now = later.counters
        fires = now.fires.reduce(0, +) - before.fires.reduce(0, +)
        let lateness = now.lateness.since(before.lateness)
        latenessP50Us = lateness.quantile(0.5).map(Self.microseconds)
        latenessP99Us = lateness.quantile(0.99).map(Self.microseconds)
        let commitSeconds = now.commitSeconds.since(before.commitSeconds)
        commits = commitSeconds.total
        commitP99Us = commitSeconds.quantile(0.99).map(Self.microseconds)
        requests = later.requests - earlier.requests
        let attempts = zip(now.attempts, before.attempts).map { $0 - $1 }
        delivered = attempts[EngineCounters.AttemptKind.delivered.rawValue]
        failed = attempts.reduce(0, +) - delivered
        running = now.timers[Int(TimerState.running.rawValue)]
        stalled = now.alarmingWatchdogs
        overdueMs = now.overdueMilliseconds
        streams = later.streams
        pendingDeliveries = now.pendingDeliveries
        deadDeliveries = now.deadDeliveries
    }

    private static func microseconds(_ seconds: Double) -> Int64 { Int64((seconds * 1_000_000).rounded()) }

    /// The members on the wire after `at`.
    var members: [(name: StaticString, value: Int64?)] {
        [
            ("durationMs", durationMs), ("fires", Int64(fires)), ("latenessP50Us", latenessP50Us),
            ("latenessP99Us", latenessP99Us), ("commits", Int64(commits)), ("commitP99Us", commitP99Us),
            ("requests", Int64(requests)), ("delivered", Int64(delivered)), ("failed", Int64(failed)),
            ("running", Int64(running)), ("stalled", Int64(stalled)), ("overdueMs", overdueMs),
            ("streams", Int64(streams)), ("pendingDeliveries", Int64(pendingDeliveries)),
            ("deadDeliveries", Int64(deadDeliveries)),
        ]
    }
}
