import Platform

/// The bounds on the requests that wait until it is known which server answers for their timers: their number, and
/// the bytes of their bodies. May be used on any thread.
final class OwnerWaits: Sendable {
    private struct Held: Sendable {
        var requests = 0
        var bytes = 0
    }

    private static let mostRequests = 10_000
    private static let mostBytes = 64 << 20
    private let held = Guarded(Held())

    /// Counts a request with a body of `bytes`. Returns false if there are too many requests or bytes.
    func take(_ bytes: Int) -> Bool {
        held.withLock { held in
            guard held.requests < Self.mostRequests, held.bytes + bytes <= Self.mostBytes else { return false }
            held.requests += 1
            held.bytes += bytes
            return true
        }
    }

    /// Uncounts a request that was counted with `bytes`.
    func giveBack(_ bytes: Int) {
        held.withLock { held in
            held.requests -= 1
            held.bytes -= bytes
        }
    }
}
