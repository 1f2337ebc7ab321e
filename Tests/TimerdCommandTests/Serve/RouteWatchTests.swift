import Platform
import TestSupport
import Testing
import TimerCluster
import TimerForwarding
import TimerLog

@testable import TimerdCommand

/// The routes to other servers, whose names a resolver looks up.
struct RouteWatchTests {
    private let isHeld = Guarded(false)

    /// The state of a cluster of servers at these hosts, as the server at the first one knows it.
    private func state(_ hosts: [String], owner: Int64) -> ClusterState {
        var state = ClusterState(session: 0)
        state.nodes = hosts.enumerated().map { session, host in
            ClusterNode(
                session: Int64(session), beat: 1, url: "http://\(host):80", peer: "\(host):7", reads: 1)
        }
        state.owner = LogOwner(epoch: 1, session: owner)
        return state
    }

    /// A watch whose resolver does not answer for `slow` while it is held.
    private func watch() -> RouteWatch {
        let watch = RouteWatch { [isHeld] host in
            if host == "slow" { isHeld.wait { $0 ? nil : () } }
            return host == "nowhere" ? nil : "address of \(host)"
        }
        watch.startLookingUp()
        return watch
    }

    private func destination(_ session: Int64, _ host: String) -> ClusterRoutes.Destination {
        ClusterRoutes.Destination(session: session, host: "address of \(host)", port: 7)
    }

    @Test func `a new owner whose address is known does not wait for a name that is looked up`() throws {
        let watch = watch()
        defer { watch.stop() }
        watch.update(state(["a", "b", "c", "nowhere"], owner: 1))
        let known = [destination(1, "b"), destination(2, "c")]
        try eventually("the names are looked up") { watch.routes.value == ClusterRoutes(destinations: known, owner: 1) }
        isHeld.update { $0 = true }
        watch.update(state(["a", "b", "c", "slow"], owner: 2))
        #expect(watch.routes.value == ClusterRoutes(destinations: known, owner: 2))
        isHeld.update { $0 = false }
        try eventually("the last name is looked up") {
            watch.routes.value == ClusterRoutes(destinations: known + [destination(3, "slow")], owner: 2)
        }
    }

    @Test func `a server that has left has no route, and this one is no owner to itself`() throws {
        let watch = watch()
        defer { watch.stop() }
        watch.update(state(["a", "b", "c"], owner: 1))
        try eventually("the names are looked up") { watch.routes.value.destinations.count == 2 }
        watch.update(state(["a", "b"], owner: 0))
        #expect(watch.routes.value == ClusterRoutes(destinations: [destination(1, "b")], owner: nil))
    }
}
