import Platform
import Synchronization

/// The requests and lookups that other threads leave for the courier's thread, and the count of requests that they see.
final class CourierInbox: Sendable {
    /// The result of a lookup.
    struct LookedUp: Sendable {
        var name: String
        /// The addresses, 4 or 16 bytes each; empty where there are none.
        var addresses: [[UInt8]]
    }

    private struct State: Sendable {
        var requests: [CourierRequest] = []
        var lookedUp: [LookedUp] = []
        var deadline: Int64?
    }

    /// The number of requests under way.
    let inFlight = Atomic(0)
    private let state = Guarded(State())

    /// Leaves requests. Returns whether the thread is to be woken: there were none since it last took them.
    func leave(_ more: [CourierRequest]) -> Bool {
        guard !more.isEmpty else { return false }
        return state.withLock { state in
            guard state.deadline == nil else { return false }
            let wasEmpty = state.requests.isEmpty
            state.requests += more
            return wasEmpty
        }
    }

    /// Leaves the result of a lookup.
    func leave(_ found: LookedUp) { state.withLock { $0.lookedUp.append(found) } }

    /// Closes the inbox: no more requests are taken, and the thread ends by `deadline` (monotonic). Only the first
    /// call counts.
    func close(deadline: Int64) {
        state.withLock { if $0.deadline == nil { $0.deadline = deadline } }
    }

    /// Moves the requests and lookups that were left into `requests` and `lookedUp`, which are empty. Returns the
    /// deadline once closed.
    func take(into requests: inout [CourierRequest], lookedUp: inout [LookedUp]) -> Int64? {
        state.withLock { state in
            swap(&state.requests, &requests)
            swap(&state.lookedUp, &lookedUp)
            return state.deadline
        }
    }
}
