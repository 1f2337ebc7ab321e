import Platform
import Synchronization

/// What other threads leave for the courier's thread, and what they see of it.
final class CourierMail: @unchecked Sendable {  // unchecked: what others leave is guarded by `lock`
    /// What a lookup came to.
    struct LookedUp {
        var name: String
        /// 4 or 16 bytes each; empty where there are none.
        var addresses: [[UInt8]]
    }

    /// Exchanges under way.
    let inFlight = Atomic(0)
    private let lock = Lock()
    private var requests: [CourierRequest] = []
    private var lookedUp: [LookedUp] = []
    private var deadline: Int64?

    /// Leaves requests. Returns whether the thread is to be woken: it has had none since it looked last.
    func leave(_ more: [CourierRequest]) -> Bool {
        guard !more.isEmpty else { return false }
        return lock.withLock {
            guard deadline == nil else { return false }
            let wasEmpty = requests.isEmpty
            requests += more
            return wasEmpty
        }
    }

    /// Leaves what a lookup came to.
    func leave(_ found: LookedUp) { lock.withLock { lookedUp.append(found) } }

    /// Takes no more, and has the thread end by `deadline` (monotonic). The first call counts.
    func close(deadline: Int64) {
        lock.withLock { if self.deadline == nil { self.deadline = deadline } }
    }

    /// Moves what was left into `requests` and `lookedUp`, which are empty. Returns the deadline once closed.
    func take(into requests: inout [CourierRequest], lookedUp: inout [LookedUp]) -> Int64? {
        lock.withLock {
            swap(&self.requests, &requests)
            swap(&self.lookedUp, &lookedUp)
            return deadline
        }
    }
}
