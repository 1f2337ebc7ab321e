import Platform
import Synchronization

/// A loop's sign of life.
public final class Heartbeat: Sendable {
    /// The loop's name.
    public let name: String
    private let last: Atomic<Int64>
    private let longest = Atomic<Int64>(0)

    /// Makes the heartbeat of a loop that just began.
    public init(name: String) {
        self.name = name
        last = Atomic(Clocks.monotonic())
    }

    /// Notes that the loop moves. Called on the loop's own thread, at least every second.
    public func beat() {
        let now = Clocks.monotonic()
        let gap = now - last.exchange(now, ordering: .relaxed)
        if gap > longest.load(ordering: .relaxed) { longest.store(gap, ordering: .relaxed) }
    }

    /// Seconds since the last beat.
    public var silence: Double { Double(Clocks.monotonic() - last.load(ordering: .relaxed)) / 1e9 }

    /// The longest time between two beats since `takeLongest`, in seconds.
    public var longestSilence: Double {
        max(silence, Double(longest.load(ordering: .relaxed)) / 1e9)
    }

    /// Returns the longest time between two beats since the last call, in nanoseconds, without the silence that
    /// goes on.
    func takeLongest() -> Int64 { longest.exchange(0, ordering: .relaxed) }
}
