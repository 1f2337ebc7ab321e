import TimerCluster
import TimerLog
import TimerService

/// True time, which a simulation moves. One thread touches it.
final class TrueTime: @unchecked Sendable {  // unchecked: a simulation has one thread
    /// Nanoseconds since the history began.
    var now: Int64 = 0
}

/// The clocks of one machine of a simulated cluster, on which one process after the other runs.
final class Machine: TimeSource, @unchecked Sendable {  // unchecked: a simulation has one thread
    /// Nanoseconds since 1970 at which every history begins.
    static let epoch: Int64 = 1_700_000_000_000_000_000

    let number: Int
    private let time: TrueTime
    /// The nanoseconds that the boot clock counts in a thousand of true time.
    private let rate: Int64
    private let bootedAt: Int64
    /// The nanoseconds by which the calendar is ahead of true time.
    var wallOffset: Int64

    init(_ number: Int, _ time: TrueTime, rate: Int64, wallOffset: Int64) {
        self.number = number
        self.time = time
        self.rate = rate
        self.wallOffset = wallOffset
        bootedAt = Int64(number + 1) * 1_000_000_000_000
    }

    func boottime() -> Int64 { bootedAt + time.now / 1000 * rate + time.now % 1000 }
    func realtime() -> Int64 { Self.epoch + time.now + wallOffset }
    func boot() -> Hash128 { Hash128(high: 0, low: UInt64(number)) }

    var instant: ClusterInstant { ClusterInstant(boottime: boottime(), realtime: realtime()) }

    /// The true time at which the boot clock shows `boottime`, or a little later.
    func time(at boottime: Int64) -> Int64 {
        boottime >= .max / 2 ? .max : max(0, (boottime - bootedAt) / rate * 1000) + 2000
    }
}
