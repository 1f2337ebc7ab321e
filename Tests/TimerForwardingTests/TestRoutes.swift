import Platform
import Synchronization
import TestSupport
import TimerForwarding

/// The routes of a server, as a test publishes them. Nobody is told of a change but by ``tell()``.
final class TestRoutes: RouteSource {
    let routes = Published(ClusterRoutes.none)
    let isOld = Atomic<Bool>(false)
    private let observers = Guarded<[@Sendable () -> Void]>([])

    var isCutOff: Bool { isOld.load(ordering: .relaxed) }

    func observeRoutes(_ body: @escaping @Sendable () -> Void) { observers.withLock { $0.append(body) } }

    /// Tells the server that the routes have changed.
    func tell() { for body in observers.value { body() } }
}
