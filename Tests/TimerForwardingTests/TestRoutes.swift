import Platform
import TimerForwarding

/// The routes of a server, as a test publishes them. Nobody is told of a change.
final class TestRoutes: RouteSource {
    let routes = Published(ClusterRoutes.none)

    func observeRoutes(_ body: @escaping @Sendable () -> Void) {}
}
