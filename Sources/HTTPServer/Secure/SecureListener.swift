import Glibc
import Platform

/// A socket of a loop at which clients connect with TLS. Confined to the loop.
final class SecureListener {
    /// The daemon that serves the connections.
    private let daemon: LibraryDaemon
    private let descriptor: Int32
    private unowned let loop: LoopCore
    /// Whether the listener waits until descriptors are free again.
    private var isPaused = false

    /// The tag of all listeners of a loop in its epoll.
    static let tag: UInt64 = 8
    /// Connections taken in one round, so that other sockets are not starved.
    private static let acceptsPerRound = 64

    /// Takes over the listening socket, and begins to watch it.
    init(_ descriptor: Int32, for daemon: LibraryDaemon, loop: LoopCore) {
        self.descriptor = descriptor
        self.daemon = daemon
        self.loop = loop
        loop.epoll.add(descriptor, .readable, tag: Self.tag)
    }

    /// Takes connections that wait, those that the server has places for.
    func accept(into sockets: SecureSockets) {
        for _ in 0..<Self.acceptsPerRound {
            guard let (socket, peer) = SocketAddress.nextConnection(at: descriptor) else {
                // Without a free descriptor the kernel would report the same connection again and again.
                if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) { pause() }
                return
            }
            if let peer, let claim = loop.claim(for: peer) {
                sockets.begin(socket, peer: peer, claim, for: daemon)
            } else {
                Glibc.close(socket)
            }
        }
    }

    private func pause() {
        isPaused = true
        loop.epoll.modify(descriptor, [], tag: Self.tag)
    }

    /// Called about once a second.
    func tick() {
        guard isPaused else { return }
        isPaused = false
        loop.epoll.modify(descriptor, .readable, tag: Self.tag)
    }

    /// Takes no more connections.
    func close() {
        loop.epoll.remove(descriptor)
        Glibc.close(descriptor)
    }
}
