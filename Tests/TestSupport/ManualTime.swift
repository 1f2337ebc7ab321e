import Platform
package import TimerLog
import TimerService

/// Clocks that a test moves.
package final class ManualTime: TimeSource {
    private struct State {
        var sinceBoot: Int64 = 1_000_000_000_000
        var calendar: Int64 = 1_700_000_000_000_000_000
        var bootCount: UInt64 = 1
        /// Nanoseconds that each reading of a clock takes.
        var readingTime: Int64 = 0
    }

    private let state = Guarded(State())

    package init() {}

    package func boottime() -> Int64 {
        state.withLock { state in
            state.sinceBoot += state.readingTime
            state.calendar += state.readingTime
            return state.sinceBoot
        }
    }

    package func realtime() -> Int64 { state.withLock { $0.calendar } }

    package func boot() -> Hash128 { state.withLock { Hash128(high: 0, low: $0.bootCount) } }

    /// Passes time on both clocks.
    package func pass(milliseconds: Int64) { pass(nanoseconds: milliseconds * 1_000_000) }

    /// Passes time on both clocks.
    package func pass(nanoseconds: Int64) {
        state.withLock { state in
            state.sinceBoot += nanoseconds
            state.calendar += nanoseconds
        }
    }

    /// Sets the calendar forward, or back.
    package func step(milliseconds: Int64) { state.withLock { $0.calendar += milliseconds * 1_000_000 } }

    /// Restarts the machine, after the calendar moved on by `milliseconds`.
    package func reboot(milliseconds: Int64) {
        state.withLock { state in
            state.sinceBoot = 5_000_000_000
            state.calendar += milliseconds * 1_000_000
            state.bootCount += 1
        }
    }

    /// Makes readings slow, as on a machine that is busy elsewhere.
    package func takeTime(nanoseconds: Int64) { state.withLock { $0.readingTime = nanoseconds } }
}
