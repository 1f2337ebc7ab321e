import Platform

/// What the requests hold together that wait until it is known who answers for their timers. Any thread.
final class OwnerWaits: Sendable {
    private struct Held: Sendable {
        var requests = 0
        var bytes = 0
    }

    private static let mostRequests = 10_000
    private static let mostBytes = 64 << 20
    private let held = Guarded(Held())

    /// Counts a request with a body of `bytes`, unless there are too many.
    func take(_ bytes: Int) -> Bool {
        held.withLock { held in
            guard held.requests < Self.mostRequests, held.bytes + bytes <= Self.mostBytes else { return false }
            held.requests += 1
            held.bytes += bytes
            return true
        }
    }

    /// Counts a request less that was taken with `bytes`.
    func giveBack(_ bytes: Int) {
        held.withLock { held in
            held.requests -= 1
            held.bytes -= bytes
        }
    }
}
