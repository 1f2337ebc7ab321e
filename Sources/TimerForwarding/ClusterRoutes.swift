package import Platform

/// Where requests are forwarded.
package struct ClusterRoutes: Sendable, Equatable {
    /// A node that takes forwarded requests.
    package struct Destination: Sendable, Equatable {
        /// The number of the node's session.
        package var session: Int64
        /// The IP address at which it takes them, as text.
        package var host: String
        /// The port beside it.
        package var port: UInt16

        /// Makes a destination; see the members.
        package init(session: Int64, host: String, port: UInt16) {
            self.session = session
            self.host = host
            self.port = port
        }
    }

    /// The nodes that take requests.
    package let destinations: [Destination]
    /// The owner of the log; nil where that is this node, or no node that takes requests.
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

/// The source of the routes: it follows who owns the log. Any thread.
package protocol RouteSource: Sendable {
    /// Where requests are forwarded now.
    var routes: Published<ClusterRoutes> { get }
    /// Calls `body` whenever `routes` has changed. Any thread.
    func observeRoutes(_ body: @escaping @Sendable () -> Void)
}
