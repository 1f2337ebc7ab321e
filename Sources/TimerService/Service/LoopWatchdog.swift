import Platform
import Synchronization

/// A loop's sign of life.
public final class Heartbeat: Sendable {
    /// Which loop.
    public let name: String
    private let last: Atomic<Int64>
    private let longest = Atomic<Int64>(0)

    /// A loop that just began.
    public init(name: String) {
        self.name = name
        last = Atomic(Clocks.monotonic())
    }

    /// The loop moves. Its own thread calls this at least every second.
    public func beat() {
        let now = Clocks.monotonic()
        let gap = now - last.exchange(now, ordering: .relaxed)
        if gap > longest.load(ordering: .relaxed) { longest.store(gap, ordering: .relaxed) }
    }

    /// Seconds since the last sign.
    public var silence: Double { Double(Clocks.monotonic() - last.load(ordering: .relaxed)) / 1e9 }

    /// The longest time between two signs since `takeLongest`, in seconds.
    public var longestSilence: Double {
        max(silence, Double(longest.load(ordering: .relaxed)) / 1e9)
    }

    /// The same but for the silence that goes on, in nanoseconds; begins anew.
    func takeLongest() -> Int64 { longest.exchange(0, ordering: .relaxed) }
}

/// Watches the service's own loops as it watches clients: one that stands still is reported and fails `/healthz`.
public final class LoopWatchdog: @unchecked Sendable {  // unchecked: every `var` is guarded by `lock`
    /// A loop silent for longer than this, in seconds, is reported.
    public static let warningSeconds = 4.0
    /// A loop silent for longer than this, in seconds, is not healthy.
    public static let unhealthySeconds = 5.0

    private let lock = Lock()
    private var hearts: [Heartbeat] = []
    private var reported: Set<String> = []
    private var recent = RecentStalls()
    private var stopping = false
    private let report: @Sendable (ServiceEvent) -> Void

    init(report: @escaping @Sendable (ServiceEvent) -> Void) { self.report = report }

    /// Watches a further loop.
    public func watch(_ heart: Heartbeat) { lock.withLock { hearts.append(heart) } }

    /// The longest silence of any loop within the last minute, in seconds.
    public var longestStall: Double {
        lock.withLock {
            let recent = Double(recent.longest(at: Clocks.monotonic())) / 1e9
            return hearts.map(\.longestSilence).reduce(recent, max)
        }
    }

    /// Loops that stand still now.
    public var standing: [String] {
        lock.withLock { hearts.filter { $0.silence > Self.unhealthySeconds }.map(\.name) }
    }

    /// Looks every second until `stop`. The body of its thread.
    func run() {
        lock.withLock {
            while !stopping {
                for heart in hearts {
                    recent.note(heart.takeLongest(), at: Clocks.monotonic())
                    if heart.silence < Self.warningSeconds {
                        reported.remove(heart.name)
                    } else if reported.insert(heart.name).inserted {
                        report(.loopStalled(name: heart.name, seconds: heart.silence))
                    }
                }
                _ = lock.wait(nanoseconds: 1_000_000_000)
            }
        }
    }

    func stop() {
        lock.withLock {
            stopping = true
            lock.broadcast()
        }
    }
}
