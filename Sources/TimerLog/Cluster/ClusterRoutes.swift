/// Where requests for the partitions of other nodes are forwarded.
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
    /// By partition, the place of its owner in `destinations`; nil where that is this node, or nobody who takes requests.
    private let places: [Int?]

    /// Routes that lead nowhere.
    public static let none = ClusterRoutes(destinations: [], sessions: [])

    /// Makes routes.
    ///
    /// - Parameter sessions: of the partitions' owners, by partition; nil where the owner is this node or not known.
    public init(destinations: [Destination], sessions: [Int64?]) {
        self.destinations = destinations
        places = sessions.map { session in
            session.flatMap { session in destinations.firstIndex { $0.session == session } }
        }
    }

    /// The node that a request for a partition is forwarded to; nil where there is none.
    public subscript(partition: Int) -> Destination? {
        places.indices.contains(partition) ? places[partition].map { destinations[$0] } : nil
    }

    /// Whether there is a node to forward to for each partition.
    public var leadEverywhere: Bool { !places.isEmpty && places.allSatisfy { $0 != nil } }
}
