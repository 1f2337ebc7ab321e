/// Where requests are forwarded.
public struct ClusterRoutes: Sendable, Equatable {
    /// A node that takes forwarded requests.
    public struct Destination: Sendable, Equatable {
        /// The number of the node's session.
        public var session: Int64
        /// The IP address at which it takes them, as text.
        public var host: String
        /// The port beside it.
        public var port: UInt16

        /// Makes a destination; see the members.
        public init(session: Int64, host: String, port: UInt16) {
            self.session = session
            self.host = host
            self.port = port
        }
    }

    /// The nodes that take requests.
    public let destinations: [Destination]
    /// The owner of the log; nil where that is this node, or no node that takes requests.
    public let owner: Destination?

    /// Routes that lead nowhere.
    public static let none = ClusterRoutes(destinations: [], owner: nil)

    /// Makes routes.
    ///
    /// - Parameter session: the session of the log's owner; nil where that is this node or not known.
    public init(destinations: [Destination], owner session: Int64?) {
        self.destinations = destinations
        owner = session.flatMap { session in destinations.first { $0.session == session } }
    }
}
