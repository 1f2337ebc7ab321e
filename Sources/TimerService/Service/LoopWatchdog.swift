import Platform

/// Watches the service's own loops, as the service watches clients: a loop that stands still is reported and fails
/// `/healthz`.
public final class LoopWatchdog: Worker {
    let name = "watchdog"
    /// The silence above which a loop is reported, in seconds.
    public static let warningSeconds = 4.0
    /// The silence above which a loop is not healthy, in seconds.
    public static let unhealthySeconds = 5.0
    /// Nanoseconds from one look to the next.
    private static let interval: Int64 = 1_000_000_000

    private struct State {
        var hearts: [Heartbeat] = []
        var reported: Set<String> = []
        var recent = RecentStalls()
        var isStopping = false
    }

    private let state = Guarded(State())
    private let report: @Sendable (ServiceEvent) -> Void

    init(report: @escaping @Sendable (ServiceEvent) -> Void) { self.report = report }

    /// Watches a further loop.
    public func watch(_ heart: Heartbeat) { state.withLock { $0.hearts.append(heart) } }

    /// The longest stall of any loop within the last minute, in seconds.
    public var longestStall: Double {
        state.withLock { state in
            let recent = Double(state.recent.longest(at: Clocks.monotonic())) / 1e9
            return state.hearts.map(\.longestSilence).reduce(recent, max)
        }
    }

    /// The names of the loops that stand still now.
    public var stalledLoops: [String] {
        state.withLock { state in state.hearts.filter { $0.silence > Self.unhealthySeconds }.map(\.name) }
    }

    /// Looks at the loops every second until `stop`. The body of the watchdog's thread.
    func run() {
        repeat {
            state.withLock { look(&$0) }
        } while state.wait(nanoseconds: Self.interval) { $0.isStopping ? () : nil } == nil
    }

    private func look(_ state: inout State) {
        for heart in state.hearts {
            state.recent.note(heart.takeLongest(), at: Clocks.monotonic())
            if heart.silence < Self.warningSeconds {
                state.reported.remove(heart.name)
            } else if state.reported.insert(heart.name).inserted {
                report(.loopStalled(name: heart.name, seconds: heart.silence))
            }
        }
    }

    func stop() { state.update { $0.isStopping = true } }
}
