import Platform
package import TimerLog

/// The place of a server among several, as a test sets it. The lease lasts.
package final class TestPlace: ClusterPlace {
    package let lease = Lease { 1 }
    package let owner: String? = nil
    package let map: ClusterMap?
    package let (takeovers, fenced) = (0, 0)

    package init(_ map: ClusterMap? = nil) {
        self.map = map
        lease.extend(until: 2)
    }

    package func handOver(to url: String?, _ ended: @escaping @Sendable (HandOverOutcome) -> Void) { ended(.failed) }
}
