import TimerLog
import TimerService

/// Clocks that a simulation moves. One thread touches them.
final class SimulatedTime: TimeSource, @unchecked Sendable {  // unchecked: a simulation has one thread
    /// Nanoseconds since boot.
    private(set) var sinceBoot: Int64 = 1_000_000_000_000
    /// Nanoseconds since 1970.
    private(set) var calendar: Int64
    private(set) var bootCount: UInt64 = 1

    init(calendar: Int64) { self.calendar = calendar }

    func boottime() -> Int64 { sinceBoot }
    func realtime() -> Int64 { calendar }
    func boot() -> Hash128 { Hash128(high: 0, low: bootCount) }

    /// Passes time on both clocks.
    func pass(_ nanoseconds: Int64) {
        sinceBoot += nanoseconds
        calendar += nanoseconds
    }

    /// Sets the calendar forward, or back.
    func step(_ nanoseconds: Int64) { calendar = max(1_000_000_000, calendar + nanoseconds) }

    /// Restarts the machine, after the calendar moved on by `nanoseconds`.
    func reboot(_ nanoseconds: Int64) {
        sinceBoot = 0
        calendar += nanoseconds
        bootCount += 1
    }
}
