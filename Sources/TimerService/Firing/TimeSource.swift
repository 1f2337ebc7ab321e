public import TimerLog

/// The clocks that the service reads; tests have manual ones.
public protocol TimeSource: Sendable {
    /// Returns nanoseconds since boot, sleep included.
    func boottime() -> Int64
    /// Returns nanoseconds since 1970.
    func realtime() -> Int64
    /// Returns the identity of the boot that `boottime` counts from.
    func boot() -> Hash128
}
