package import Platform

/// The nodes to which requests are forwarded.
package struct ClusterRoutes: Sendable, Equatable {
    /// A node that takes forwarded requests.
    package struct Destination: Sendable, Equatable {
        /// The number of the node's session.
        package var session: Int64
        /// The IP address, as text, at which the node takes requests.
        package var host: String
        /// The port at that address.
        package var port: UInt16

        /// Makes a destination; see the members.
        package init(session: Int64, host: String, port: UInt16) {
            self.session = session
            self.host = host
            self.port = port
        }
    }

    /// The nodes that take forwarded requests.
    package let destinations: [Destination]
    /// The owner of the log; nil where that is this node, or one that takes no requests.
    package let owner: Destination?

    /// Routes that lead nowhere.
    package static let none = ClusterRoutes(destinations: [], owner: nil)

    /// Makes routes.
    ///
    /// - Parameter session: the session of the log's owner; nil where that is this node or not known.
    package init(destinations: [Destination], owner session: Int64?) {
        self.destinations = destinations
        owner = session.flatMap { session in destinations.first { $0.session == session } }
    }
}

/// The source of the routes, which follows who owns the log. May be used on any thread.
package protocol RouteSource: Sendable {
    /// The nodes to which requests are forwarded now.
    var routes: Published<ClusterRoutes> { get }
    /// Whether the routes may be old ones, as nobody can tell now who owns the log.
    var isCutOff: Bool { get }
    /// Calls `body`, on any thread, whenever `routes` has changed.
    func observeRoutes(_ body: @escaping @Sendable () -> Void)
}
