import Platform
import TimerService

/// An alarm on the clocks of a `ManualTime`.
package final class ManualAlarm: Alarm {
    private struct State {
        var planned = Int64.max
        var isRung = false
        var rings = 0
    }

    private let state = Guarded(State())
    private let time: ManualTime

    package init(_ time: ManualTime) { self.time = time }

    /// The instant that the alarm is armed for, in nanoseconds since boot; `Int64.max` for never.
    package var armed: Int64 { state.withLock { $0.planned } }

    /// The number of rings.
    package var ringCount: Int { state.withLock { $0.rings } }

    package func arm(boottime: Int64) { state.withLock { $0.planned = boottime } }

    /// Waits, and reads the manual clock every millisecond of real time. A negative time has no end.
    package func wait(milliseconds: Int32) {
        var left = milliseconds
        while left != 0 && !isOver() {
            _ = state.wait(nanoseconds: 1_000_000) { $0.isRung ? () : nil }
            if left > 0 { left -= 1 }
        }
        state.withLock { $0.isRung = false }
    }

    /// Whether the alarm was rung, or its instant has come.
    private func isOver() -> Bool { state.withLock { $0.isRung || $0.planned <= time.boottime() } }

    package func ring() {
        state.update { state in
            state.isRung = true
            state.rings += 1
        }
    }
}
