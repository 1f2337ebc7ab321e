import TimerCluster
import TimerLog

/// A node of a simulated cluster: its clocks, its membership, and the log as it serves it.
final class SimulatedNode {
    /// The log that the node serves.
    struct Served {
        var session: Int64
        var store: any LogStore
        var head: StoreHead
        var isAppending = false
    }

    let number: Int
    /// The nanoseconds that the node's clocks count in a thousand of true time.
    let rate: Int64
    private let bootedAt: Int64
    /// The nanoseconds by which the node's calendar is ahead of true time.
    var wallOffset: Int64
    /// The number of processes that ran on the node before this one.
    var life = 0
    var isRunning = true
    var pausedUntil: Int64?
    var restartAt: Int64?
    var isStopping = false
    /// Whether the node reads the log while another one owns it.
    let isWarm: Bool
    /// The newest format of rows that the node's process reads, and in which it writes.
    private(set) var reads: Int
    /// The format of the program that is installed, which runs from the next start on.
    var installed: Int
    /// Whether the log can't be used on the node, whatever its program.
    let isUnable: Bool
    var membership: Membership
    var leaseEnd: Int64 = .min
    var served: Served?
    /// The events that came while the node was paused.
    var waiting: [ClusterSimulation.Happening] = []

    init(_ number: Int, rate: Int64, wallOffset: Int64, isWarm: Bool, reads: Int, isUnable: Bool) {
        self.isUnable = isUnable
        self.isWarm = isWarm
        self.reads = reads
        installed = reads
        self.number = number
        self.rate = rate
        self.wallOffset = wallOffset
        bootedAt = Int64(number) * 1_000_000_000_000
        membership = Self.membership(number, 0, reads, ClusterInstant(boottime: bootedAt, realtime: 0))
    }

    var url: String { "http://node-\(number)" }
    var isAwake: Bool { isRunning && pausedUntil == nil }

    func boottime(at time: Int64) -> Int64 { bootedAt + time / 1000 * rate + time % 1000 }

    /// The true time at which the boot clock shows `boottime`, or a little later.
    func time(at boottime: Int64) -> Int64 {
        boottime >= .max / 2 ? .max : max(0, (boottime - bootedAt) / rate * 1000) + 2000
    }

    func now(at time: Int64) -> ClusterInstant {
        ClusterInstant(boottime: boottime(at: time), realtime: ClusterSimulation.epoch + time + wallOffset)
    }

    /// Restarts the node as another process.
    func restart(at time: Int64) {
        life += 1
        (isRunning, isStopping, pausedUntil, restartAt) = (true, false, nil, nil)
        reads = installed
        leaseEnd = .min
        served = nil
        waiting = []
        membership = Self.membership(number, life, reads, now(at: time))
    }

    private static func membership(_ number: Int, _ life: Int, _ reads: Int, _ now: ClusterInstant) -> Membership {
        let sessions = SessionNumbers(first: Int64(number + 1) * 1_000_000 + Int64(life) * 1000)
        return Membership(
            NodeProfile(url: "http://node-\(number)", reads: reads), at: now, newSession: { sessions.next() })
    }
}
