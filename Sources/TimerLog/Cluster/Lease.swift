public import Platform
internal import Synchronization

/// Until when this process may show what it holds. Any thread.
///
/// Of several processes on one storage the holder of a valid lease alone answers, streams and delivers for its partitions:
/// nobody takes from it before the lease is over. It says nothing about writes, which the storage itself fences.
public final class Lease: Sendable {
    private let end = Atomic<Int64>(0)
    private let now: @Sendable () -> Int64

    /// A lease that is over.
    ///
    /// - Parameter now: nanoseconds since boot, sleep included.
    public init(now: @escaping @Sendable () -> Int64 = Clocks.boottime) { self.now = now }

    /// Lets it last until the instant `end`, in nanoseconds since boot; never shortens it.
    public func extend(until end: Int64) {
        let before = self.end.load(ordering: .relaxed)
        if end > before { self.end.store(end, ordering: .releasing) }
    }

    /// Ends it now.
    public func revoke() { end.store(0, ordering: .releasing) }

    /// Whether it lasts.
    public var isValid: Bool { remaining > 0 }

    /// Nanoseconds until its end; 0 and less once it is over.
    public var remaining: Int64 { end.load(ordering: .acquiring) - now() }
}
