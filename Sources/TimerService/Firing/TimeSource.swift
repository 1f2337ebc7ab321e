public import TimerLog

/// Where the service reads the time; a manual one in tests.
public protocol TimeSource: Sendable {
    /// Nanoseconds since boot, sleep included.
    func boottime() -> Int64
    /// Nanoseconds since 1970.
    func realtime() -> Int64
    /// Which boot `boottime` counts from.
    func boot() -> Hash128
}
