public import Platform
internal import Synchronization

/// Until when this process may show what it holds. Any thread.
///
/// Of several processes on one storage the holder of a valid lease alone answers, streams and delivers: nobody takes from it
/// before the lease is over. The lease says nothing about writes, which the storage itself fences.
public final class Lease: Sendable {
    private let end = Atomic<Int64>(0)
    private let now: @Sendable () -> Int64

    /// A lease that is over.
    ///
    /// - Parameter now: nanoseconds since boot, sleep included.
    public init(now: @escaping @Sendable () -> Int64 = Clocks.boottime) { self.now = now }

    /// Lets it last until the instant `new`, in nanoseconds since boot; never shortens it. One thread at a time.
    public func extend(until new: Int64) {
        if new > end.load(ordering: .relaxed) { end.store(new, ordering: .releasing) }
    }

    /// Ends it now. One thread at a time.
    public func revoke() { end.store(0, ordering: .releasing) }

    /// Whether it lasts.
    public var isValid: Bool { remaining > 0 }

    /// Nanoseconds until its end; 0 and less once it is over.
    public var remaining: Int64 { end.load(ordering: .acquiring) - now() }
}
