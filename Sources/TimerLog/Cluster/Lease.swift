public import Platform
internal import Synchronization

/// Until when this process may show what it holds. Any thread.
///
/// Of several processes on one storage the holder of a valid lease alone answers, streams and delivers:
/// nobody takes from it before the lease is over. It says nothing about writes, which the storage itself fences.
///
/// With it comes how far the holder may promise that no later record comes: whoever takes from it begins behind that.
public final class Lease: Sendable {
    private let end = Atomic<Int64>(0)
    private let promisedEnd = Atomic<Int64>(0)
    private let now: @Sendable () -> Int64

    /// A lease that is over.
    ///
    /// - Parameter now: nanoseconds since boot, sleep included.
    public init(now: @escaping @Sendable () -> Int64 = Clocks.boottime) { self.now = now }

    /// Lets it last until the instant `end`, in nanoseconds since boot, and the holder promise up to the position `promised`;
    /// never shortens either. One thread at a time.
    public func extend(until end: Int64, promised: Int64) {
        Self.raise(promisedEnd, to: promised)
        Self.raise(self.end, to: end)
    }

    /// Ends it now. One thread at a time.
    public func revoke() {
        end.store(0, ordering: .releasing)
        promisedEnd.store(0, ordering: .releasing)
    }

    private static func raise(_ value: borrowing Atomic<Int64>, to new: Int64) {
        if new > value.load(ordering: .relaxed) { value.store(new, ordering: .releasing) }
    }

    /// Position up to which the holder may promise that no later record comes, whatever its calendar says.
    public var promised: Int64 { promisedEnd.load(ordering: .acquiring) }

    /// Whether it lasts.
    public var isValid: Bool { remaining > 0 }

    /// Nanoseconds until its end; 0 and less once it is over.
    public var remaining: Int64 { end.load(ordering: .acquiring) - now() }
}
