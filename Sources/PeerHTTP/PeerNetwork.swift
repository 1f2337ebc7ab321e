package import HTTPServer
import Platform

/// The bounds of the connections between servers.
package struct PeerLimits: Sendable {
    /// Seconds that a connection by which another server forwards requests may stay without one; then it is closed.
    package var idleSeconds = 60
    /// Milliseconds that a forwarded request may be on its way longer than the quickest one of its connection; above, it is
    /// refused: its client has given up or soon will, and may have asked elsewhere.
    package var longestTransitMs: Int64 = 2000

    /// Requests that a connection may have under way, streams of events among them. Beyond this number requests wait at the
    /// server that forwards them, without an end where streams take all places.
    package var requests: Int
    /// Requests, besides streams, that a connection may have under way: as many as may wait at a server.
    private static let mostWaiting = 10_000

    /// The defaults for a server that holds up to `streams` streams.
    package init(streams: Int = 0) { requests = streams + Self.mostWaiting }
}

/// The connections of an `HTTPServer` with other servers: takes requests from them, and sends requests to them. May be used
/// on any thread.
package final class PeerNetwork: LoopGuests {
    private let listener: ListenAddress
    private let limits: PeerLimits
    private let bound = Guarded<BoundAddress?>(nil)

    /// - Parameter listener: the address at which requests of other servers are taken.
    package init(listeningAt listener: ListenAddress, _ limits: PeerLimits = PeerLimits()) {
        self.listener = listener
        self.limits = limits
    }

    /// The address at which requests of other servers are taken, with the real port; nil until the server has bound it.
    package var address: BoundAddress? { bound.withLock { $0 } }

    package func makeGuests(on loops: [LoopCore]) throws(ListenError) -> [any LoopGuest] {
        let sockets = try ListeningSocket.open(listener, index: -1, loops: loops.count)
        bound.withLock { $0 = sockets.first?.bound }
        return loops.enumerated().map { index, loop in
            LoopLinks(loop, limits, listeningAt: index < sockets.count ? sockets[index] : nil)
        }
    }

    /// The links of a loop; nil once it has ended. On the loop's thread.
    package static func links(on loop: Loop) -> LoopLinks? {
        loop.core.withLock { $0 }?.guest as? LoopLinks
    }
}
