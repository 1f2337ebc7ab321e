import Platform
import TimerLog

/// The place of a server among several that each own some of the partitions, as a test sets it. Its lease lasts.
final class SpreadPlace: ClusterPlace {
    let lease = Lease { 1 }
    let owner: String? = nil
    let map: ClusterMap? = nil
    let isSpread = true
    let routes = Published(ClusterRoutes.none)
    let (takeovers, fenced) = (0, 0)

    init() { lease.extend(until: 2, promised: .max) }

    func observeRoutes(_ body: @escaping @Sendable () -> Void) {}
}
