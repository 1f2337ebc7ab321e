import HTTPServer
import TimerLog

/// A loop's connections to the servers to which it forwards, one to each.
struct PeerLinks {
    private var links: [Int64: (address: PeerAddress, link: PeerLink)] = [:]
    private let loop: Loop
    private let token: [UInt8]

    /// - Parameter token: what this server proves to the others.
    init(_ loop: Loop, token: [UInt8]) {
        self.loop = loop
        self.token = token
    }

    /// A connection to `destination`; a new one where there is none that takes requests. Nil where its address is none.
    mutating func link(to destination: ClusterRoutes.Destination) -> PeerLink? {
        guard let address = PeerAddress(host: destination.host, port: destination.port) else { return nil }
        if let (known, link) = links[destination.session], known == address, link.isUsable { return link }
        guard let link = PeerLink(to: address, on: loop, token: token) else { return nil }
        links[destination.session] = (address, link)
        return link
    }

    /// Takes out the connections to servers that are not among `destinations` any more: a server whose session has ended shows
    /// nothing, so they are to be closed.
    mutating func takeGone(_ destinations: [ClusterRoutes.Destination]) -> [PeerLink] {
        let gone = links.filter { session, _ in !destinations.contains { $0.session == session } }
        for session in gone.keys { links[session] = nil }
        return gone.values.map(\.link)
    }
}
