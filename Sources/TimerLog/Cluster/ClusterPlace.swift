public import Platform
internal import Synchronization

/// The time until which this process may show what it holds. May be read on any thread.
///
/// Of several processes on one storage, only the holder of a valid lease answers, streams and delivers: nobody
/// takes the log from it before the lease is over. The lease does not concern writes, which the storage itself
/// fences.
public final class Lease: Sendable {
    private let end = Atomic<Int64>(0)
    private let now: @Sendable () -> Int64

    /// Makes a lease that is over.
    ///
    /// - Parameter now: nanoseconds since boot, sleep included.
    public init(now: @escaping @Sendable () -> Int64 = Clocks.boottime) { self.now = now }

    /// Extends the lease until the instant `new`, in nanoseconds since boot; never shortens it. Called by one
    /// thread at a time.
    public func extend(until new: Int64) {
        if new > end.load(ordering: .relaxed) { end.store(new, ordering: .releasing) }
    }

    /// Ends the lease now. Called by one thread at a time.
    public func revoke() { end.store(0, ordering: .releasing) }

    /// Whether the lease is not over.
    public var isValid: Bool { remaining > 0 }

    /// Nanoseconds until the lease ends; 0 and less once it is over.
    public var remaining: Int64 { end.load(ordering: .acquiring) - now() }
}
