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
