import Glibc
import HTTPServer
import Platform

/// A socket at which other servers connect.
final class PeerListener: LoopSocket {
    let descriptor: Int32
    let tag: UInt64
    private unowned let links: LoopLinks
    private var isClosed = false

    /// The most connections of other servers to one loop: each of their loops makes one.
    private static let mostConnections = 1024
    /// The most connections taken in one round.
    private static let acceptsPerRound = 64

    init(_ descriptor: Int32, among links: LoopLinks, tag: UInt64) {
        self.descriptor = descriptor
        self.links = links
        self.tag = tag
    }

    func happened(_ events: Epoll.Events) {
        for _ in 0..<Self.acceptsPerRound {
            let next = unsafe Accepting.next(descriptor) { address in unsafe SocketAddress(address) }
            guard let (socket, peer) = next else { return }
            guard links.count < Self.mostConnections else {
                Glibc.close(socket)
                continue
            }
            PeerConnection.begin(socket, among: links, peer: peer)
        }
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        links.loop.epoll.remove(descriptor)
        Glibc.close(descriptor)
    }
}
