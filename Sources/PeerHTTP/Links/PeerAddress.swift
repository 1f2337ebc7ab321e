import HTTPServer

/// The address at which another server takes forwarded requests.
package struct PeerAddress: Sendable, Equatable {
    let address: SocketAddress

    /// Makes an address; nil unless `host` is `localhost` or an IP literal, without brackets.
    package init?(host: String, port: UInt16) {
        guard let address = SocketAddress(host: host, port: port) else { return nil }
        self.address = address
    }
}

extension PeerAddress: CustomStringConvertible {
    /// `127.0.0.1:5000` or `[::1]:5000`.
    package var description: String { address.description }
}
