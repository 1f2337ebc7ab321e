import Platform
import TimerForwarding
import TimerLog

/// The place of a server among several, and where it forwards, as a test sets both. The lease lasts.
final class TestPlace: ClusterPlace, RouteSource {
    let lease = Lease { 1 }
    let owner: String? = nil
    let map: ClusterMap?
    let routes = Published(ClusterRoutes.none)
    let (takeovers, fenced) = (0, 0)

    init(_ map: ClusterMap? = nil) {
        self.map = map
        lease.extend(until: 2)
    }

    func observeRoutes(_ body: @escaping @Sendable () -> Void) {}
}
