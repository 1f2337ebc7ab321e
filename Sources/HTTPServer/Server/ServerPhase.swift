import Synchronization

/// Whether the server serves, drains or stops, for its loops to see. Any thread.
final class ServerPhase: Sendable {
    private let draining = Atomic(false)
    private let stopAt = Atomic(Int64.max)

    var isDraining: Bool { draining.load(ordering: .acquiring) }
    var isStopping: Bool { stopAt.load(ordering: .acquiring) != .max }

    /// When the loops end whatever is under way, on the monotonic clock in nanoseconds.
    var deadline: Int64 { stopAt.load(ordering: .acquiring) }

    /// Returns false where it drains already.
    @discardableResult
    func drain() -> Bool {
        !draining.exchange(true, ordering: .acquiringAndReleasing)
    }

    func stop(deadline: Int64) {
        stopAt.store(min(deadline, .max - 1), ordering: .releasing)
    }
}
