import Platform
import TimerLog
import TimerService

/// Clocks that a test moves.
final class ManualTime: TimeSource, @unchecked Sendable {  // unchecked: what changes is touched only under `lock`
    private let lock = Lock()
    private var sinceBoot: Int64 = 1_000_000_000_000
    private var calendar: Int64 = 1_700_000_000_000_000_000
    private var bootCount: UInt64 = 1
    /// Nanoseconds that each reading of a clock takes.
    private var readingTime: Int64 = 0

    func boottime() -> Int64 {
        lock.withLock {
            sinceBoot += readingTime
            calendar += readingTime
            return sinceBoot
        }
    }

    func realtime() -> Int64 { lock.withLock { calendar } }

    func boot() -> Hash128 { lock.withLock { Hash128(high: 0, low: bootCount) } }

    /// Lets time pass.
    func pass(milliseconds: Int64) { pass(nanoseconds: milliseconds * 1_000_000) }

    /// Lets time pass.
    func pass(nanoseconds: Int64) {
        lock.withLock {
            sinceBoot += nanoseconds
            calendar += nanoseconds
        }
    }

    /// Sets the calendar forward, or back.
    func step(milliseconds: Int64) { lock.withLock { calendar += milliseconds * 1_000_000 } }

    /// Starts the machine anew, after the calendar moved on by `milliseconds`.
    func reboot(milliseconds: Int64) {
        lock.withLock {
            sinceBoot = 5_000_000_000
            calendar += milliseconds * 1_000_000
            bootCount += 1
        }
    }

    /// Makes readings slow, as on a machine that is busy elsewhere.
    func takeTime(nanoseconds: Int64) { lock.withLock { readingTime = nanoseconds } }
}

/// An alarm that goes by `ManualTime`.
final class ManualAlarm: Alarm, @unchecked Sendable {  // unchecked: what changes is touched only under `lock`
    private let lock = Lock()
    private let time: ManualTime
    private var planned = Int64.max
    private var isRung = false
    private var rings = 0

    init(_ time: ManualTime) { self.time = time }

    /// Nanoseconds since boot it is armed for, `Int64.max` for never.
    var armed: Int64 { lock.withLock { planned } }

    /// How often it was rung.
    var ringCount: Int { lock.withLock { rings } }

    func arm(boottime: Int64) { lock.withLock { planned = boottime } }

    /// Looks at the manual clock every millisecond of real time.
    func wait(milliseconds: Int32) {
        lock.withLock {
            for _ in 0..<milliseconds where !isRung && planned > time.boottime() {
                _ = lock.wait(nanoseconds: 1_000_000)
            }
            isRung = false
        }
    }

    func ring() {
        lock.withLock {
            isRung = true
            rings += 1
            lock.broadcast()
        }
    }
}
