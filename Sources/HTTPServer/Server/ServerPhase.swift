import Synchronization

/// The server's phase (serving, draining or stopping), which the loops read. May be used on any thread.
final class ServerPhase: Sendable {
    private let draining = Atomic(false)
    private let stopAt = Atomic(Int64.max)

    var isDraining: Bool { draining.load(ordering: .acquiring) }
    var isStopping: Bool { stopAt.load(ordering: .acquiring) != .max }

    /// The instant at which the loops cut off what is under way, on the monotonic clock in nanoseconds; `.max`
    /// before a stop.
    var deadline: Int64 { stopAt.load(ordering: .acquiring) }

    /// Begins to drain. Returns false where the server drains already.
    @discardableResult
    func drain() -> Bool {
        !draining.exchange(true, ordering: .acquiringAndReleasing)
    }

    func stop(deadline: Int64) {
        stopAt.store(min(deadline, .max - 1), ordering: .releasing)
    }
}
