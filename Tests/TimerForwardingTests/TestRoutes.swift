import Platform
import Synchronization
import TimerForwarding

/// The routes of a server, as a test publishes them. Nobody is told of a change.
final class TestRoutes: RouteSource {
    let routes = Published(ClusterRoutes.none)
    let isOld = Atomic<Bool>(false)
    var isCutOff: Bool { isOld.load(ordering: .relaxed) }

    func observeRoutes(_ body: @escaping @Sendable () -> Void) {}
}
