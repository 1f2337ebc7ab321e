import Platform
import Synchronization

/// Watches the service's own loops, as the service watches clients: a loop that stands still is reported and fails
/// `/healthz`.
public final class LoopWatchdog: Worker {
    let name = "watchdog"
    /// The silence above which a loop is reported, in seconds.
    public static let warningSeconds = 4.0
    /// The silence above which a loop is not healthy, in seconds.
    public static let unhealthySeconds = 5.0
    /// Nanoseconds from one look to the next, and while every loop rests.
    private static let interval: Int64 = 1_000_000_000
    private static let restingInterval: Int64 = 10_000_000_000

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

    /// Looks at the loops until `stop`, every second unless they rest. The body of the watchdog's thread.
    func run() {
        var pause = Self.interval
        repeat {
            let isResting = state.withLock { look(&$0) }
            pause = isResting ? Self.restingInterval : Self.interval
        } while state.wait(nanoseconds: pause) { $0.isStopping ? () : nil } == nil
    }

    /// Looks at each loop. Returns whether all of them rest.
    private func look(_ state: inout State) -> Bool {
        for heart in state.hearts {
            state.recent.note(heart.takeLongest(), at: Clocks.monotonic())
            if heart.silence < Self.warningSeconds {
                state.reported.remove(heart.name)
            } else if state.reported.insert(heart.name).inserted {
                report(.loopStalled(name: heart.name, seconds: heart.silence))
            }
        }
        return state.hearts.allSatisfy { $0.silence < 0 }
    }

    func stop() { state.update { $0.isStopping = true } }
}

/// A loop's sign of life.
public final class Heartbeat: Sendable {
    /// The loop's name.
    public let name: String
    /// The instant since which the loop is silent: that of its last beat, or the end of its rest.
    private let last: Atomic<Int64>
    private let longest = Atomic<Int64>(0)

    /// Makes the heartbeat of a loop that just began.
    public init(name: String) {
        self.name = name
        last = Atomic(Clocks.monotonic())
    }

    /// Notes that the loop moves. Called on the loop's own thread, at least every second, unless it rests.
    public func beat() {
        let now = Clocks.monotonic()
        let gap = now - last.exchange(now, ordering: .relaxed)
        if gap > longest.load(ordering: .relaxed) { longest.store(gap, ordering: .relaxed) }
    }

    /// Notes that the loop waits until `instant` on the monotonic clock, in nanoseconds, or until an event: it beats when
    /// the wait is over, and is silent only from then on. Called on the loop's own thread.
    public func rest(until instant: Int64) { last.store(instant, ordering: .relaxed) }

    /// Seconds since the last beat, or since the end of the rest after it; negative during a rest.
    public var silence: Double { Double(Clocks.monotonic() - last.load(ordering: .relaxed)) / 1e9 }

    /// The longest time between two beats since `takeLongest`, in seconds.
    public var longestSilence: Double {
        max(silence, Double(longest.load(ordering: .relaxed)) / 1e9)
    }

    /// Returns the longest time between two beats since the last call, in nanoseconds, without the silence that
    /// goes on.
    func takeLongest() -> Int64 { longest.exchange(0, ordering: .relaxed) }
}

/// The stalls of the last minute that are needed to find the longest: one that a later one equals or exceeds is not.
struct RecentStalls {
    /// How long after its end a stall is forgotten, in nanoseconds.
    static let window: Int64 = 60_000_000_000

    /// The stalls, oldest and longest first.
    private var stalls: [(endedAt: Int64, length: Int64)] = []

    /// Notes a stall of `length` nanoseconds that ended by `now`.
    mutating func note(_ length: Int64, at now: Int64) {
        forget(before: now)
        while let last = stalls.last, last.length <= length { stalls.removeLast() }
        stalls.append((now, length))
    }

    /// Returns the longest stall, in nanoseconds; 0 for none.
    mutating func longest(at now: Int64) -> Int64 {
        forget(before: now)
        return stalls.first?.length ?? 0
    }

    private mutating func forget(before now: Int64) {
        stalls.removeSubrange(..<(stalls.firstIndex { now - $0.endedAt <= Self.window } ?? stalls.count))
    }
}
